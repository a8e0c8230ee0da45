import { Address, nativeToScVal, xdr } from '@stellar/stellar-sdk'
import { isRecord, NodeError, type Rpc, Unavailable } from '../../shared/host.ts'
import type { Elsewhere, Outcome, OwnTransaction } from '../scheme.ts'
import type { StellarPayment } from './payment.ts'

/**
 * Reads if a transaction succeeded that makes this payment: the call of the asset with this authorization is
 * in its envelope.
 */
export async function stellarOutcome(payment: StellarPayment, hash: string, rpc: Rpc): Promise<Outcome> {
  const { status, envelopeXdr } = await rpc<{ readonly status?: unknown; readonly envelopeXdr?: unknown }>(
    'getTransaction',
    { hash },
  )
  if (status === 'FAILED') return 'failed'
  if (status !== 'SUCCESS' || typeof envelopeXdr !== 'string') return 'unknown'
  return pays(payment, envelopeXdr) ? 'paid' : 'failed'
}

function pays({ asset, entry }: StellarPayment, envelopeXdr: string): boolean {
  return operationsIn(envelopeXdr).some(({ body }) => {
    if (body.type !== 'invokeHostFunction') return false
    const { hostFunction, auth } = body.invokeHostFunctionOp
    if (hostFunction.type !== 'hostFunctionTypeInvokeContract') return false
    const { contractAddress } = hostFunction.invokeContract
    // The authorization is of exactly one call, whose arguments were compared with what is required.
    return (
      Address.fromScAddress(contractAddress).toString() === asset &&
      auth.some(
        (each) => each.toXdr('base64') === entry && isSameCall(each.rootInvocation.function, hostFunction),
      )
    )
  })
}

function isSameCall(authorized: xdr.SorobanAuthorizedFunction, called: xdr.HostFunction): boolean {
  return (
    authorized.type === 'sorobanAuthorizedFunctionTypeContractFn' &&
    called.type === 'hostFunctionTypeInvokeContract' &&
    authorized.contractFn.toXdr('base64') === called.invokeContract.toXdr('base64')
  )
}

function operationsIn(envelopeXdr: string): readonly xdr.Operation[] {
  const envelope = xdr.TransactionEnvelope.fromXdr(envelopeXdr, 'base64')
  switch (envelope.type) {
    case 'envelopeTypeTx':
      return envelope.v1.tx.operations
    case 'envelopeTypeTxFeeBump': {
      const { innerTx } = envelope.feeBump.tx
      return innerTx.type === 'envelopeTypeTx' ? innerTx.v1.tx.operations : []
    }
    default:
      return []
  }
}

/**
 * Finds out if somebody else sent the authorization. The ledger keeps its nonce until it expires; who used it
 * is in the events of the asset, which a node may not keep. What it does not tell is unknown.
 */
export async function stellarElsewhere(
  payment: StellarPayment,
  { since }: Pick<OwnTransaction, 'since'>,
  rpc: Rpc,
): Promise<Elsewhere> {
  try {
    const { entries = [], latestLedger } = await rpc<{ entries?: readonly unknown[]; latestLedger: number }>(
      'getLedgerEntries',
      { keys: [nonceKey(payment)] },
    )
    if (entries.length === 0 && latestLedger <= payment.expirationLedger) return { kind: 'unpaid' }
    return await searchEvents(payment, since, rpc)
  } catch (error) {
    if (error instanceof NodeError || error instanceof Unavailable) return { kind: 'unknown' }
    throw error
  }
}

function nonceKey({ payer, nonce }: StellarPayment): string {
  return xdr.LedgerKey.contractData(
    new xdr.LedgerKeyContractData({
      contract: Address.fromString(payer).toScAddress(),
      key: xdr.ScVal.scvLedgerKeyNonce(new xdr.ScNonceKey({ nonce })),
      durability: xdr.ContractDataDurability.temporary,
    }),
  ).toXdr('base64')
}

/** The longest time that an authorization of a payment is valid, in ledgers, and a little more. */
const MARGIN_LEDGERS = 10

/** Ledgers close about this often, by the specification of the scheme. */
const LEDGER_SECONDS = 5

/** Transfers of the same payer to the same payee in this time that are looked at. */
const MAX_EVENTS = 20

/** Milliseconds by which the clocks of this machine and of the ledger may differ. */
const CLOCK_MS = 120_000

/**
 * Searches the transfers of the payer to the payee for the one with this authorization. One that was made
 * long before `since` is an old one.
 */
async function searchEvents(payment: StellarPayment, since: number, rpc: Rpc): Promise<Elsewhere> {
  const { asset, payer, payTo, expirationLedger, maxTimeoutSeconds } = payment
  const address = (each: string) => nativeToScVal(each, { type: 'address' }).toXdr('base64')
  const topics = [[xdr.ScVal.scvSymbol('transfer').toXdr('base64'), address(payer), address(payTo), '**']]
  const first = expirationLedger - Math.ceil(maxTimeoutSeconds / LEDGER_SECONDS) - MARGIN_LEDGERS
  const startLedger = Math.max(1, first)
  const { events = [], oldestLedger = Infinity } = await rpc<{
    events?: readonly unknown[]
    oldestLedger?: number
  }>('getEvents', {
    startLedger,
    endLedger: expirationLedger + 1,
    filters: [{ type: 'contract', contractIds: [asset], topics }],
    pagination: { limit: MAX_EVENTS },
  })
  for (const event of events) {
    const { txHash: hash, ledgerClosedAt } = isRecord(event) ? event : {}
    if (typeof hash === 'string' && (await stellarOutcome(payment, hash, rpc)) === 'paid')
      return Date.parse(String(ledgerClosedAt)) < since - CLOCK_MS
        ? { kind: 'unpaid' }
        : { kind: 'paid', hash }
  }
  const isComplete = oldestLedger <= startLedger && events.length < MAX_EVENTS
  return { kind: isComplete ? 'unpaid' : 'unknown' }
}
