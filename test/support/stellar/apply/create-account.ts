import { xdr } from '@stellar/stellar-sdk'
import { addressOf } from '../assets.ts'
import { minimumBalance, newAccount } from '../entries.ts'
import { debit, exists } from './balances.ts'
import type { Rule } from './rule.ts'

/** stellar-core CreateAccountOpFrame.cpp. */
export const createAccount: Rule<'createAccount'> = {
  level: () => 'medium',
  check({ createAccountOp: { destination, startingBalance } }, source) {
    const malformed = startingBalance < 0n || addressOf(destination) === source
    return malformed ? result('createAccountMalformed') : undefined
  },
  apply({ createAccountOp }, { changes, network, source, ledger }) {
    const account = newAccount(
      addressOf(createAccountOp.destination),
      createAccountOp.startingBalance,
      ledger,
    )
    if (exists(changes, account.address)) return result('createAccountAlreadyExist')
    if (account.balance < minimumBalance(account, network.baseReserve))
      return result('createAccountLowReserve')
    const problem = debit(changes, network, source, 'native', account.balance)
    if (problem) return result('createAccountUnderfunded')
    changes.set(account)
    return result('createAccountSuccess')
  },
}

function result(code: xdr.CreateAccountResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.createAccount(xdr.CreateAccountResult[code]()))
}
