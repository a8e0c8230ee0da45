import { xdr } from '@stellar/stellar-sdk'
import { larger } from '../bigints.ts'
import { knownAccount } from '../state.ts'
import type { Rule } from './rule.ts'

/** stellar-core BumpSequenceOpFrame.cpp; a bump to where the account is already, or was, does nothing. */
export const bumpSequence: Rule<'bumpSequence'> = {
  level: () => 'low',
  check: ({ bumpSequenceOp: { bumpTo } }) => (bumpTo < 0n ? result('bumpSequenceBadSeq') : undefined),
  apply({ bumpSequenceOp: { bumpTo } }, { changes, source, ledger, closeTime }) {
    const account = knownAccount(changes, source)
    const sequence = larger(bumpTo, account.sequence)
    changes.set({ ...account, sequence, sequenceLedger: ledger, sequenceTime: closeTime })
    return result('bumpSequenceSuccess')
  },
}

function result(code: xdr.BumpSequenceResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.bumpSequence(xdr.BumpSequenceResult[code]()))
}
