import {
  Account,
  Address,
  Contract,
  nativeToScVal,
  Operation,
  StrKey,
  scValToBigInt,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { isRecord, type Rpc } from '../../shared/host.ts'
import { Refusal, reading } from '../refusal.ts'
import type { Moment } from '../scheme.ts'
import type { StellarPayment } from './payment.ts'

/** A transfer that an event of a contract tells. */
export interface Movement {
  readonly contract: string
  readonly name: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** What the ledger says about a payment. */
export interface StellarReadings {
  readonly ledger: number
  /** The time that the ledger states, in seconds; absent if the node does not tell. */
  readonly closedAt?: number | undefined
  /** What the payer has; undefined if the contract does not tell. */
  readonly balance: bigint | undefined
  /** The events of the simulated payment, or why it failed. An event that is no transfer is undefined. */
  readonly simulation:
    | { readonly movements: readonly (Movement | undefined)[] }
    | { readonly failure: string }
}

/** Ledgers close about this often, by the specification of the scheme. */
const LEDGER_SECONDS = 5

/** Ledgers by which the node that is asked may be behind the one that the payer asked. */
const LEDGERS_BEHIND = 2

/**
 * Ledgers that must be left: the simulation is as of the newest one, and the service sends nothing that
 * expires within two.
 */
const LEAST_LEDGERS = 4

/**
 * Reads what decides about a payment. `relayer` is the source of the settlement, and so of the simulation.
 */
export async function readStellarLedger(
  payment: StellarPayment,
  rpc: Rpc,
  relayer: string,
): Promise<StellarReadings> {
  return reading(payment.payer, async () => {
    const { passphrase } = await rpc<{ passphrase: string }>('getNetwork', {})
    const call = (functionName: string, args: xdr.ScVal[], auth: xdr.SorobanAuthorizationEntry[]) =>
      simulate(rpc, { relayer, passphrase, asset: payment.asset, functionName, args, auth })
    const account = (address: string) => nativeToScVal(address, { type: 'address' })
    const { payer, payTo, amount, entry } = payment
    const args = [account(payer), account(payTo), nativeToScVal(amount, { type: 'i128' })]
    const [{ sequence, closeTime }, balance, transfer] = await Promise.all([
      rpc<{ sequence: number; closeTime?: string }>('getLatestLedger', {}),
      call('balance', [account(payer)], []),
      call('transfer', args, [xdr.SorobanAuthorizationEntry.fromXdr(entry, 'base64')]),
    ])
    const closedAt = closeTime === undefined ? undefined : Number(closeTime)
    return { ledger: sequence, closedAt, balance: balanceIn(balance), simulation: movementsIn(transfer) }
  })
}

interface Call {
  readonly relayer: string
  readonly passphrase: string
  readonly asset: string
  readonly functionName: string
  readonly args: readonly xdr.ScVal[]
  readonly auth: readonly xdr.SorobanAuthorizationEntry[]
}

/** The relayer's sequence number does not matter to a simulation. */
async function simulate(
  rpc: Rpc,
  { relayer, passphrase, asset, functionName, args, auth }: Call,
): Promise<unknown> {
  const { hostFunction } = invocation(new Contract(asset).call(functionName, ...args))
  const transaction = new TransactionBuilder(new Account(relayer, '0'), {
    fee: '100',
    networkPassphrase: passphrase,
  })
    .addOperation(Operation.invokeHostFunction({ func: hostFunction, auth: [...auth] }))
    .setTimeout(0)
    .build()
  return rpc('simulateTransaction', { transaction: transaction.toXDR() })
}

function invocation({ body }: xdr.Operation): xdr.InvokeHostFunctionOp {
  if (body.type !== 'invokeHostFunction') throw new Error('a call of a contract is an invocation')
  return body.invokeHostFunctionOp
}

function balanceIn(simulation: unknown): bigint | undefined {
  const { results } = isRecord(simulation) ? simulation : {}
  const [result] = Array.isArray(results) ? results : []
  if (!isRecord(result) || typeof result.xdr !== 'string') return undefined
  const value = xdr.ScVal.fromXdr(result.xdr, 'base64')
  return value.type === 'scvI128' ? scValToBigInt(value) : undefined
}

function movementsIn(simulation: unknown): StellarReadings['simulation'] {
  const { error, events, restorePreamble } = isRecord(simulation) ? simulation : {}
  if (typeof error === 'string') return { failure: error }
  if (restorePreamble !== undefined) return { failure: 'An archived entry must be restored first.' }
  const texts = Array.isArray(events) ? events.map(String) : []
  const contractEvents = texts
    .map((text) => xdr.DiagnosticEvent.fromXdr(text, 'base64').event)
    .filter(({ type }) => type.name === 'contract')
  return { movements: contractEvents.map(movementIn) }
}

function movementIn({ contractId, body }: xdr.ContractEvent): Movement | undefined {
  const [name, from, to] = body.v0.topics
  if (
    contractId === null ||
    name?.type !== 'scvSymbol' ||
    from?.type !== 'scvAddress' ||
    to?.type !== 'scvAddress'
  )
    return undefined
  const amount = amountIn(body.v0.data)
  if (amount === undefined) return undefined
  return {
    contract: StrKey.encodeContract(contractId.toBytes()),
    name: String(name.sym),
    from: Address.fromScVal(from).toString(),
    to: Address.fromScVal(to).toString(),
    amount,
  }
}

/** The amount itself, or, since CAP-67, a map with the amount and the id of a muxed receiver. */
function amountIn(data: xdr.ScVal): bigint | undefined {
  if (data.type === 'scvI128') return scValToBigInt(data)
  if (data.type !== 'scvMap') return undefined
  const entry = data.map?.find(({ key }) => key.type === 'scvSymbol' && String(key.sym) === 'amount')
  return entry?.val.type === 'scvI128' ? scValToBigInt(entry.val) : undefined
}

/**
 * The reasons for which somebody else may have made the payment: its nonce was used, the payer has paid his
 * last money with it, or it has expired, maybe after that.
 */
export const MADE_ON_STELLAR: readonly Refusal['reason'][] = [
  'insufficient_funds',
  'invalid_exact_stellar_payload_simulation_failed',
]

/** Decides about a payment by what the ledger says. Throws {@link Refusal} if it cannot be settled. */
export function judgeStellarPayment(
  payment: StellarPayment,
  { ledger, balance, simulation }: StellarReadings,
): void {
  const { payer, payTo, asset, amount, expirationLedger, maxTimeoutSeconds } = payment
  const refuse = (reason: string, message: string) =>
    new Refusal(`invalid_exact_stellar_${reason}`, message, payer)
  if (expirationLedger < ledger + LEAST_LEDGERS)
    throw refuse(
      'payload_simulation_failed',
      `The authorization expires in ledger ${expirationLedger}, and it is ${ledger}: at least ${LEAST_LEDGERS} ledgers must be left.`,
    )
  const last = ledger + Math.ceil(maxTimeoutSeconds / LEDGER_SECONDS) + LEDGERS_BEHIND
  if (expirationLedger > last)
    throw refuse(
      'signature_expiration_too_far',
      `The authorization must expire by ledger ${last}, not ${expirationLedger}.`,
    )
  if (balance !== undefined && balance < amount)
    throw new Refusal('insufficient_funds', `The payer has ${balance}, and ${amount} are needed.`, payer)
  if ('failure' in simulation)
    throw refuse(
      'payload_simulation_failed',
      `The simulated payment fails: ${simulation.failure.slice(0, 200)}`,
    )
  const [movement, ...others] = simulation.movements
  if (simulation.movements.length === 0)
    throw refuse('payload_no_transfer_events', 'The simulated payment moves nothing.')
  if (others.length > 0)
    throw refuse('payload_multiple_transfers', 'The simulated payment does more than one transfer.')
  if (movement?.name !== 'transfer')
    throw refuse('payload_event_not_transfer', 'The simulated payment is no transfer.')
  if (movement.contract !== asset)
    throw refuse('payload_event_wrong_asset', 'The simulated payment moves another asset.')
  if (movement.from !== payer)
    throw refuse('payload_event_wrong_from', 'The simulated payment takes from someone else.')
  if (movement.to !== payTo)
    throw refuse('payload_event_wrong_to', 'The simulated payment pays someone else.')
  if (movement.amount !== amount)
    throw refuse('payload_event_wrong_amount', `The simulated payment moves ${movement.amount}.`)
}

/** What is sent to settle a payment: the same call with the relayer as its source. */
export function stellarBody({ payer, payTo, asset, amount, entry }: StellarPayment, network: string): object {
  return {
    network,
    operations: [
      {
        type: 'invoke_contract',
        contract_address: asset,
        function_name: 'transfer',
        args: [{ address: payer }, { address: payTo }, { i128: amount.toString() }],
        auth: { type: 'xdr', entries: [entry] },
      },
    ],
  }
}

/**
 * Time before the deadline at which a settlement expires: the service needs two ledgers to know that none has
 * included it.
 */
const EXPIRY_MS = 2 * LEDGER_SECONDS * 1000

/** The service refuses what expires sooner. */
const LEAST_MS = EXPIRY_MS + 2000

/**
 * Returns the time after which no ledger may include the settlement. The authorization counts up to its last
 * ledger, so one that is included later would fail at the relayer's cost; and at the deadline its buyer must
 * be told that nothing was paid. Ledgers have a clock of their own.
 */
export function stellarDeadline(
  { expirationLedger }: StellarPayment,
  { ledger, closedAt = 0 }: Pick<StellarReadings, 'ledger' | 'closedAt'>,
  { now, deadline }: Moment,
): string {
  const left = Math.min(
    (expirationLedger - ledger - 1) * LEDGER_SECONDS * 1000,
    Math.max(LEAST_MS, deadline - now - EXPIRY_MS),
  )
  return new Date(Math.max(now, closedAt * 1000) + left).toISOString()
}
