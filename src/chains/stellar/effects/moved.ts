import { StrKey } from '@stellar/stellar-sdk/base'
import {
  type ClaimAtom,
  type ContractEvent,
  ContractEventType,
  type LedgerEntryChange,
  type OperationResult,
  type OperationResultTr,
  type PathPaymentStrictSendResultSuccess,
  type ScVal,
  type TransactionMeta,
} from '@stellar/stellar-sdk/xdr'
import { boundTransfers, NATIVE, type Transfer, type Transfers } from '../../effects.ts'
import { accountIdOf, underlying } from '../model/strkey.ts'
import { integerIn } from '../read/tokens.ts'
import type { SourcedOperation } from './effects.ts'
import { addressName } from './invocation.ts'
import { classic, DECIMALS, transferIn } from './transfers.ts'

/** The statements of a ledger about a transaction that succeeded. */
interface Applied {
  /** Those of the transaction, or of the one inside a fee bump. */
  readonly operations: readonly Omit<SourcedOperation, 'own'>[]
  readonly results: readonly OperationResult[]
  readonly meta: TransactionMeta | undefined
}

/**
 * Reads what a transaction moved, operation by operation: classic ones by their results and the entries that
 * they changed, calls of contracts by their events. Undefined where the node does not tell all of it. Nodes
 * may tell events of classic operations, too (CAP-67); they are left out, because not all nodes do.
 */
export function movedIn({ operations, results, meta }: Applied): Transfers | undefined {
  if (operations.length !== results.length) return undefined
  const moved = operations.map(({ body, source }, index) => {
    const result = results[index]
    if (result?.type !== 'opInner') return undefined
    return movedBy({ body, source, result: result.tr, ...partOf(meta, index) })
  })
  const told = moved.filter((one) => one !== undefined)
  return told.length === moved.length ? boundTransfers(told.flat()) : undefined
}

/** The meta data of an operation; undefined where the node does not tell it. */
interface Part {
  readonly changes?: readonly LedgerEntryChange[] | undefined
  readonly events?: readonly ContractEvent[] | undefined
}

/**
 * Protocols 20 to 22 tell the events of a call beside the operations: a call is the only one of its
 * transaction.
 */
function partOf(meta: TransactionMeta | undefined, index: number): Part {
  if (meta?.type === 'v4') return meta.v4.operations[index] ?? {}
  if (meta?.type !== 'v3') return {}
  return { changes: meta.v3.operations[index]?.changes, events: meta.v3.sorobanMeta?.events }
}

interface AppliedOperation extends Part, Omit<SourcedOperation, 'own'> {
  readonly result: OperationResultTr
}

function movedBy({
  body,
  source,
  result,
  changes,
  events,
}: AppliedOperation): readonly Transfer[] | undefined {
  switch (body.type) {
    case 'createAccount':
    case 'payment':
      return [transferIn(body, source) ?? []].flat()
    case 'pathPaymentStrictSend':
    case 'pathPaymentStrictReceive':
      return 'success' in result.value && 'last' in result.value.success
        ? delivered(result.value.success, source)
        : undefined
    case 'manageSellOffer':
    case 'createPassiveSellOffer':
    case 'manageBuyOffer':
      return 'success' in result.value && 'offersClaimed' in result.value.success
        ? result.value.success.offersClaimed.flatMap((atom) => traded(atom, source))
        : undefined
    case 'accountMerge': {
      if (!('sourceAccountBalance' in result.value)) return undefined
      const { sourceAccountBalance: amount } = result.value
      return [{ from: source, to: underlying(body.destination), asset: NATIVE, amount, decimals: DECIMALS }]
    }
    case 'clawback': {
      const { from, asset, amount } = body.clawbackOp
      return [{ from: underlying(from), ...classic(asset), amount }]
    }
    case 'createClaimableBalance':
    case 'claimClaimableBalance':
      return changes?.flatMap((change) => keptIn(change, source))
    case 'clawbackClaimableBalance':
      return changes?.flatMap((change) => keptIn(change))
    case 'liquidityPoolDeposit':
    case 'liquidityPoolWithdraw':
      return changes && pooled(changes, source)
    case 'invokeHostFunction':
      return events?.flatMap((event) => transferInEvent(event) ?? [])
    default:
      return []
  }
}

/** Returns the amount that arrived, and the amount given for it where an exchange was between. */
function delivered({ offers, last }: PathPaymentStrictSendResultSuccess, from: string): Transfer[] {
  const arrived = {
    from,
    to: accountIdOf(last.destination.ed25519.toBytes()),
    ...classic(last.asset),
    amount: last.amount,
  }
  const [first, ...others] = offers.map((atom) => atom.value)
  if (first === undefined) return [arrived]
  const given = classic(first.assetBought)
  // Only the exchanges of the first step take from the sender; those of a step follow one another.
  const later = others.findIndex(({ assetBought }) => classic(assetBought).asset !== given.asset)
  const firstStep = [first, ...(later < 0 ? others : others.slice(0, later))]
  const amount = firstStep.reduce((sum, { amountBought }) => sum + amountBought, 0n)
  return [arrived, { from, ...given, amount }]
}

/** Both sides of an exchange. What the offer bought is what the operation sold. */
function traded(atom: ClaimAtom, source: string): Transfer[] {
  const { assetSold, amountSold, assetBought, amountBought } = atom.value
  const other = traderOf(atom)
  return [
    { from: other, to: source, ...classic(assetSold), amount: amountSold },
    { from: source, to: other, ...classic(assetBought), amount: amountBought },
  ]
}

function traderOf(atom: ClaimAtom): string {
  switch (atom.type) {
    case 'claimAtomTypeV0':
      return accountIdOf(atom.v0.sellerEd25519.toBytes())
    case 'claimAtomTypeOrderBook':
      return accountIdOf(atom.orderBook.sellerId.ed25519.toBytes())
    case 'claimAtomTypeLiquidityPool':
      return StrKey.encodeLiquidityPool(atom.liquidityPool.liquidityPoolId.toBytes())
  }
}

/**
 * A claimable balance has an address of its own (SEP-23), which receives and pays. Without an account, what
 * it had is destroyed.
 */
function keptIn(change: LedgerEntryChange, account?: string): Transfer[] {
  if (change.type === 'ledgerEntryRemoved') return []
  const { data } = change.value
  if (data.type !== 'claimableBalance') return []
  const { balanceId, asset, amount } = data.claimableBalance
  const balance = StrKey.encodeClaimableBalance(Buffer.from([0, ...balanceId.v0.toBytes()]))
  const moved = { ...classic(asset), amount }
  if (change.type === 'ledgerEntryCreated')
    return [{ ...(account !== undefined && { from: account }), to: balance, ...moved }]
  return [{ from: balance, ...(account !== undefined && { to: account }), ...moved }]
}

/** The reserves of a pool before its change count against those after it. */
function pooled(changes: readonly LedgerEntryChange[], source: string): Transfer[] {
  const pools = changes.flatMap((change) => {
    if (change.type === 'ledgerEntryRemoved' || change.value.data.type !== 'liquidityPool') return []
    return [{ pool: change.value.data.liquidityPool, sign: change.type === 'ledgerEntryState' ? -1n : 1n }]
  })
  const [any] = pools
  if (any === undefined) return []
  const { params } = any.pool.body.constantProduct
  const address = StrKey.encodeLiquidityPool(any.pool.liquidityPoolId.toBytes())
  const gained = (of: 'reserveA' | 'reserveB') =>
    pools.reduce((sum, { pool, sign }) => sum + sign * pool.body.constantProduct[of], 0n)
  return (
    [
      ['assetA', 'reserveA'],
      ['assetB', 'reserveB'],
    ] as const
  ).map(([asset, reserve]) => {
    const amount = gained(reserve)
    return amount < 0n
      ? { from: address, to: source, ...classic(params[asset]), amount: -amount }
      : { from: source, to: address, ...classic(params[asset]), amount }
  })
}

/**
 * Reads the event by which a token tells that it moved an amount (SEP-41, CAP-46-6, CAP-67); undefined for
 * other events. A contract tells only of itself, so its own address is the asset.
 */
export function transferInEvent({ contractId, type, body }: ContractEvent): Transfer | undefined {
  if (contractId === null || type !== ContractEventType.contract) return undefined
  const [kind, ...topics] = body.v0.topics
  if (kind?.type !== 'scvSymbol') return undefined
  const addresses = topics.flatMap((topic) =>
    topic.type === 'scvAddress' ? [addressName(topic.address)] : [],
  )
  const amount = amountIn(body.v0.data)
  if (amount === undefined || amount <= 0n) return undefined
  const moved = { asset: StrKey.encodeContract(contractId.toBytes()), amount }
  // Before protocol 23 the administrator stands in front.
  const account = addresses.at(-1)
  switch (kind.sym.toString()) {
    case 'transfer': {
      const [from, to] = addresses
      return addresses.length < 2
        ? undefined
        : { ...(from !== undefined && { from }), ...(to !== undefined && { to }), ...moved }
    }
    case 'mint':
      return account === undefined ? undefined : { to: account, ...moved }
    case 'burn':
    case 'clawback':
      return account === undefined ? undefined : { from: account, ...moved }
    default:
      return undefined
  }
}

/** With a muxed receiver, the amount is in a map (CAP-67). */
function amountIn(data: ScVal): bigint | undefined {
  const entries = data.type === 'scvMap' ? (data.map ?? []) : []
  const named = entries.find(({ key }) => key.type === 'scvSymbol' && key.sym.toString() === 'amount')
  return integerIn(named?.val ?? data)
}
