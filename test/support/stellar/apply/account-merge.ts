import { xdr } from '@stellar/stellar-sdk'
import { baseAddress } from '../assets.ts'
import { accountKey, startingSequence } from '../entries.ts'
import { knownAccount } from '../state.ts'
import { credit, exists } from './balances.ts'
import type { Rule } from './rule.ts'
import { AUTH_IMMUTABLE_FLAG } from './set-options.ts'

/** stellar-core MergeOpFrame.cpp. */
export const accountMerge: Rule<'accountMerge'> = {
  level: () => 'high',
  check: ({ destination }, source) =>
    baseAddress(destination) === source ? result('accountMergeMalformed') : undefined,
  apply({ destination }, { changes, source, ledger }) {
    const to = baseAddress(destination)
    if (!exists(changes, to)) return result('accountMergeNoAccount')
    const account = knownAccount(changes, source)
    if (account.flags & AUTH_IMMUTABLE_FLAG) return result('accountMergeImmutableSet')
    if (account.subEntries !== account.signers.length) return result('accountMergeHasSubEntries')
    // Made again in this ledger, its sequence would go back, and old transactions could be repeated.
    if (account.sequence >= startingSequence(ledger)) return result('accountMergeSeqnumTooFar')
    if (account.sponsoring > 0) return result('accountMergeIsSponsor')
    if (credit(changes, to, 'native', account.balance)) return result('accountMergeDestFull')
    changes.remove(accountKey(source))
    return inner(xdr.AccountMergeResult.accountMergeSuccess(account.balance))
  },
}

function result(
  code: Exclude<xdr.AccountMergeResultVariantName, 'accountMergeSuccess'>,
): xdr.OperationResult {
  return inner(xdr.AccountMergeResult[code]())
}

function inner(merge: xdr.AccountMergeResult): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.accountMerge(merge))
}
