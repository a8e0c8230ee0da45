import { Asset as AssetName } from '@stellar/stellar-sdk/base'
import type { ContractEvent, LedgerEntry, LedgerEntryChange, TransactionMeta } from '@stellar/stellar-sdk/xdr'
import { NATIVE } from '../../effects.ts'
import type { FeePayment } from '../../sponsoring.ts'
import { isContractAddress, toPublicKey } from '../model/strkey.ts'
import { transferInEvent } from './moved.ts'

/** The token of a payment, and the account that receives it. */
type Payee = Pick<FeePayment, 'token' | 'receiver'>

/**
 * Returns the amount of a token that arrived at an account in a ledger; undefined where the meta data does
 * not tell it. Contracts tell it by events; the balances of assets are entries that the operations change.
 * Fees are charged outside of the operations.
 */
export function arrivedIn(
  meta: TransactionMeta,
  events: readonly ContractEvent[],
  payee: Payee,
): bigint | undefined {
  if (isContractAddress(payee.token)) return paidIn(events, payee)
  const operations = meta.type === 'v3' ? meta.v3.operations : meta.type === 'v4' ? meta.v4.operations : []
  const signed = operations.flatMap(({ changes }) =>
    changes.flatMap((change) => signedBalance(change, payee)),
  )
  return signed.length === 0 ? undefined : signed.reduce((sum, value) => sum + value, 0n)
}

/** The balance of the payee counts against it before a change, and for it afterwards. */
function signedBalance(change: LedgerEntryChange, payee: Payee): bigint[] {
  if (change.type === 'ledgerEntryRemoved') return []
  const balance = balanceIn(change.value, payee)
  if (balance === undefined) return []
  return [change.type === 'ledgerEntryState' ? -balance : balance]
}

function balanceIn({ data }: LedgerEntry, { token, receiver }: Payee): bigint | undefined {
  const owner = toPublicKey(receiver).toXdr('base64')
  if (token === NATIVE)
    return data.type === 'account' && data.account.accountId.toXdr('base64') === owner
      ? data.account.balance
      : undefined
  if (data.type !== 'trustline' || data.trustLine.accountId.toXdr('base64') !== owner) return undefined
  const [code = '', issuer = ''] = token.split(':')
  const asset = new AssetName(code, issuer).toTrustLineXDRObject().toXdr('base64')
  return data.trustLine.asset.toXdr('base64') === asset ? data.trustLine.balance : undefined
}

/**
 * Returns the amount of a token that arrives at an account, by the events of the token (SEP-41), less what
 * leaves it.
 */
export function paidIn(events: readonly ContractEvent[], { token, receiver }: Payee): bigint {
  return events
    .flatMap((event) => transferInEvent(event) ?? [])
    .filter(({ asset }) => asset === token)
    .map(({ from, to, amount }) => (to === receiver ? amount : 0n) - (from === receiver ? amount : 0n))
    .reduce((sum, amount) => sum + amount, 0n)
}
