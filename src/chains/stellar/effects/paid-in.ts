import { Asset as AssetName, StrKey } from '@stellar/stellar-sdk/base'
import type {
  ContractEvent,
  LedgerEntry,
  LedgerEntryChange,
  ScVal,
  TransactionMeta,
} from '@stellar/stellar-sdk/xdr'
import { NATIVE } from '../../effects.ts'
import type { FeePayment } from '../../sponsoring.ts'
import { isContractAddress, toPublicKey } from '../model/strkey.ts'
import { integerIn } from '../read/tokens.ts'
import { addressName } from './invocation.ts'

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
 * Returns the amount of a token that arrives at an account, by the transfers that the token emits (SEP-41),
 * less what leaves it.
 */
export function paidIn(events: readonly ContractEvent[], { token, receiver }: Payee): bigint {
  return events
    .filter(({ contractId }) => contractId !== null && StrKey.encodeContract(contractId.toBytes()) === token)
    .map(({ body }) => movedTo(receiver, body.v0.topics, body.v0.data))
    .reduce((sum, amount) => sum + amount, 0n)
}

function movedTo(account: string, [kind, from, to]: readonly ScVal[], data: ScVal): bigint {
  if (kind?.type !== 'scvSymbol' || kind.sym.toString() !== 'transfer') return 0n
  // With a muxed receiver the amount is in a map (CAP-67).
  const entries = data.type === 'scvMap' ? (data.map ?? []) : []
  const named = entries.find(({ key }) => key.type === 'scvSymbol' && key.sym.toString() === 'amount')
  const amount = integerIn(named?.val ?? data) ?? 0n
  const isAt = (value: ScVal | undefined) =>
    value?.type === 'scvAddress' && addressName(value.address) === account
  return (isAt(to) ? amount : 0n) - (isAt(from) ? amount : 0n)
}
