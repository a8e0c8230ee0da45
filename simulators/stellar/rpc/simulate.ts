import { Address, xdr } from '@stellar/stellar-sdk'
import { sourceOf } from '../apply/operation.ts'
import { createRecorder, type Recorder } from '../soroban/authorization.ts'
import { Trap } from '../soroban/contracts.ts'
import { ENVELOPE_ALLOWANCE_BYTES, eventFee, nonRefundableFee, rentFee } from '../soroban/fees.ts'
import { type HostOutcome, runHostFunction } from '../soroban/host.ts'
import { dataEntry, nonceLedgerKey } from '../soroban/keys.ts'
import { createEnforcer } from '../soroban/signed-authorization.ts'
import {
  archivedEntry,
  createStorage,
  EVERYTHING,
  MIN_TEMPORARY_LEDGERS,
  restore,
  type Storage,
  sizeOf,
} from '../soroban/storage.ts'
import { contractKey } from '../state/entries.ts'
import { accountLedgerKey } from '../state/entry-xdr.ts'
import { createChanges } from '../state/state.ts'
import { decodeFrame, type Transaction } from '../transaction/frame.ts'
import { type Node, preflightFault } from './node.ts'
import { type Params, refuseJsonFormat, stringParam } from './params.ts'

/** A real call may need this much more than its simulation, because sizes and rents change in between. */
const MARGIN_PERCENT = 15

interface Needs {
  readonly readOnly: readonly xdr.LedgerKey[]
  readonly readWrite: readonly xdr.LedgerKey[]
  readonly instructions: number
  readonly diskReadBytes: number
  readonly writeBytes: number
  /** Stroops for events and rent. */
  readonly refundable: bigint
  /** The indexes of `readWrite` that the call itself restores. */
  readonly restored?: readonly number[]
}

/** Returns the resources of a call, as its simulation found them. */
function invocationData(
  node: Node,
  envelopeBytes: number,
  { events, instructions }: HostOutcome,
  storage: Storage,
): xdr.SorobanTransactionData {
  const usage = storage.usage()
  const restored = node.ledger.network.restoresAutomatically ? usage.archived : []
  const readWrite = [...usage.readWrite, ...restored.filter((key) => !usage.readWrite.includes(key))]
  const rescue = restoration(node, restored.map(toKey))
  const eventBytes = events.reduce((bytes, event) => bytes + event.toXdr().length, 0)
  return build(envelopeBytes, {
    readOnly: usage.readOnly.filter((key) => !restored.includes(key)).map(toKey),
    readWrite: readWrite.map(toKey),
    instructions,
    diskReadBytes: usage.diskReadBytes + rescue.bytes,
    writeBytes: usage.writeBytes + rescue.bytes,
    refundable: eventFee(eventBytes) + usage.rent + rescue.rent,
    restored: restored.map((key) => readWrite.indexOf(key)),
  })
}

/** Returns the resources of a restoration of archived entries. */
function restorationData(
  node: Node,
  envelopeBytes: number,
  keys: readonly xdr.LedgerKey[],
): xdr.SorobanTransactionData {
  const { bytes, rent } = restoration(node, keys)
  return build(envelopeBytes, {
    readOnly: [],
    readWrite: keys,
    instructions: 0,
    diskReadBytes: bytes,
    writeBytes: bytes,
    refundable: rent,
  })
}

/** Returns the resources of an extension of entries. */
function extensionData(
  node: Node,
  envelopeBytes: number,
  keys: readonly xdr.LedgerKey[],
  extendTo: number,
): xdr.SorobanTransactionData {
  const liveUntil = node.latest().sequence + 1 + extendTo
  const view = node.view()
  const rents = keys.map((key) => {
    const entry = view.get(contractKey(key.toXdr('base64')))
    return entry?.kind === 'contract' ? rentFee(sizeOf(entry), liveUntil - entry.liveUntil) : 0n
  })
  return build(envelopeBytes, {
    readOnly: keys,
    readWrite: [],
    instructions: 0,
    diskReadBytes: 0,
    writeBytes: 0,
    refundable: rents.reduce((sum, rent) => sum + rent, 0n),
  })
}

function restoration(
  node: Node,
  keys: readonly xdr.LedgerKey[],
): { readonly bytes: number; readonly rent: bigint } {
  const ledger = node.latest().sequence + 1
  const changes = createChanges(node.view())
  let [bytes, rent] = [0, 0n]
  for (const key of keys) {
    const entry = archivedEntry(changes, key, ledger)
    if (!entry) continue
    bytes += sizeOf(entry)
    rent += restore(changes, entry, ledger)
  }
  return { bytes, rent }
}

function build(envelopeBytes: number, needs: Needs): xdr.SorobanTransactionData {
  const { readOnly, readWrite, restored = [] } = needs
  const resources = new xdr.SorobanResources({
    footprint: new xdr.LedgerFootprint({ readOnly: [...readOnly], readWrite: [...readWrite] }),
    instructions: withMargin(needs.instructions),
    diskReadBytes: withMargin(needs.diskReadBytes),
    writeBytes: withMargin(needs.writeBytes),
  })
  // The resources themselves are part of the envelope that is measured in the end.
  const bytes = envelopeBytes + resources.toXdr().length + ENVELOPE_ALLOWANCE_BYTES
  const refundable = (needs.refundable * BigInt(100 + MARGIN_PERCENT)) / 100n
  const archivedSorobanEntries = [...restored]
  return new xdr.SorobanTransactionData({
    ext:
      restored.length > 0
        ? xdr.SorobanTransactionDataExt.resourceExt(new xdr.SorobanResourcesExtV0({ archivedSorobanEntries }))
        : xdr.SorobanTransactionDataExt.v0(),
    resources,
    resourceFee: nonRefundableFee(resources, bytes) + refundable,
  })
}

function withMargin(amount: number): number {
  return Math.ceil((amount * (100 + MARGIN_PERCENT)) / 100)
}

function toKey(base64: string): xdr.LedgerKey {
  return xdr.LedgerKey.fromXdr(base64, 'base64')
}

/** stellar-rpc methods/simulate_transaction.go. What cannot be simulated is told by `error`, not as a fault of JSON-RPC. */
export function simulateTransaction(node: Node, params: Params): unknown {
  refuseJsonFormat(params)
  const base64 = stringParam(params, 'transaction')
  const latestLedger = node.latest().sequence
  const nodeFault = preflightFault(node.nodeFault)
  if (nodeFault !== undefined) return { error: nodeFault, latestLedger }
  try {
    const { transaction, operation } = readOperation(node, base64, params.authMode)
    return { ...simulate(node, transaction, operation, params.authMode), latestLedger }
  } catch (error) {
    // A transaction that cannot be simulated is refused before the ledger is looked at, and the field is 0.
    if (error instanceof Unfit) return { error: error.message, latestLedger: 0 }
    if (!(error instanceof Trap)) throw error
    return { error: error.message, events: [], latestLedger }
  }
}

/** A transaction that no simulation begins with. */
class Unfit extends Error {}

function readOperation(node: Node, base64: string, authMode: unknown) {
  const transaction = read(base64, node)
  const [operation, ...others] = transaction.operations
  if (!operation || others.length > 0) throw new Unfit('Transaction contains more than one operation')
  checkAuthMode(operation.body, authMode)
  return { transaction, operation }
}

/** `validateAuthMode`, which also refuses operations that are not about contracts. */
function checkAuthMode(body: xdr.OperationBody, authMode: unknown): void {
  const mode = authMode ?? ''
  if (mode !== '' && mode !== 'enforce' && mode !== 'record' && mode !== 'record_allow_nonroot')
    throw new Unfit("optional 'authMode' must be one of enforce,record,record_allow_nonroot when included")
  if (body.type === 'invokeHostFunction') {
    if (body.invokeHostFunctionOp.auth.length > 0 && mode !== '' && mode !== 'enforce')
      throw new Unfit(`cannot set authMode to '${mode}' with an auth footprint`)
    return
  }
  if (body.type !== 'extendFootprintTtl' && body.type !== 'restoreFootprint') {
    const name = `OperationType${body.type.charAt(0).toUpperCase()}${body.type.slice(1)}`
    throw new Unfit(`transaction contains unsupported operation type: ${name}`)
  }
  if (mode !== '') throw new Unfit('cannot set authMode with non-InvokeHostFunction operations')
}

function simulate(
  node: Node,
  transaction: Transaction,
  operation: xdr.Operation,
  authMode: unknown,
): Record<string, unknown> {
  const { body } = operation
  if (body.type === 'invokeHostFunction') {
    const source = sourceOf(operation, transaction)
    return simulateCall(node, transaction, source, body.invokeHostFunctionOp, authMode)
  }
  if (body.type !== 'extendFootprintTtl' && body.type !== 'restoreFootprint')
    throw new Error('`checkAuthMode` has refused the others.')
  const footprint = transaction.soroban?.resources.footprint
  if (!footprint) {
    throw new Unfit(
      'To perform a SimulateTransaction for ExtendFootprintTtl or RestoreFootprint operations, SorobanTransactionData must be provided',
    )
  }
  const data =
    body.type === 'restoreFootprint'
      ? restorationData(node, transaction.size, footprint.readWrite)
      : extensionData(node, transaction.size, footprint.readOnly, body.extendFootprintTtlOp.extendTo)
  return { ...described(data), events: [] }
}

function simulateCall(
  node: Node,
  transaction: Transaction,
  source: string,
  { hostFunction, auth }: xdr.InvokeHostFunctionOp,
  authMode: unknown,
): Record<string, unknown> {
  const { network, programs } = node.ledger
  // stellar-rpc preflight/preflight.go: as of the newest ledger, not the next one.
  const { sequence: ledger, closeTime } = node.latest()
  const storage = createStorage(createChanges(node.view()), ledger, EVERYTHING)
  const recorder = recorderFor(auth, authMode, source)
  const authorizer = recorder ?? createEnforcer(auth, { network, storage, source })
  const context = { network, ledger, programs, storage, authorizer, closeTime: BigInt(closeTime) }
  const outcome = runHostFunction(hostFunction, context)
  const entries = recorder?.entries() ?? auth
  if (recorder) touchForSignatures(entries, storage)
  const { archived } = storage.usage()
  const asksToRestore = archived.length > 0 && !network.restoresAutomatically
  const keys = archived.map((key) => xdr.LedgerKey.fromXdr(key, 'base64'))
  return {
    ...described(invocationData(node, transaction.size, outcome, storage)),
    events: diagnosticEvents(outcome),
    results: [{ auth: entries.map((entry) => entry.toXdr('base64')), xdr: outcome.returned.toXdr('base64') }],
    ...(asksToRestore && { restorePreamble: described(restorationData(node, transaction.size, keys)) }),
  }
}

/** Touches the entries that will be read and written when the missing signatures are checked. */
function touchForSignatures(entries: readonly xdr.SorobanAuthorizationEntry[], storage: Storage): void {
  for (const { credentials } of entries) {
    if (credentials.type !== 'sorobanCredentialsAddress') continue
    const address = Address.fromScAddress(credentials.address.address).toString()
    const key = nonceLedgerKey(address, credentials.address.nonce)
    if (address.startsWith('G')) storage.read(accountLedgerKey(address))
    storage.write(dataEntry(key, xdr.ScVal.scvVoid(), storage.ledger + MIN_TEMPORARY_LEDGERS), key)
  }
}

/** Returns undefined if the authorisations of the call itself are checked. */
function recorderFor(
  auth: readonly xdr.SorobanAuthorizationEntry[],
  authMode: unknown,
  source: string,
): Recorder | undefined {
  const mode = authMode === undefined || authMode === '' ? (auth.length > 0 ? 'enforce' : 'record') : authMode
  if (mode === 'enforce') return undefined
  return createRecorder(source, mode === 'record_allow_nonroot')
}

function described(data: xdr.SorobanTransactionData): { transactionData: string; minResourceFee: string } {
  return { transactionData: data.toXdr('base64'), minResourceFee: String(data.resourceFee) }
}

function diagnosticEvents({ events }: HostOutcome): string[] {
  return events.map((event) =>
    new xdr.DiagnosticEvent({ inSuccessfulContractCall: true, event }).toXdr('base64'),
  )
}

function read(base64: string, node: Node): Transaction {
  try {
    return decodeFrame(base64, node.ledger.network).transaction
  } catch {
    throw new Unfit('Could not unmarshal transaction')
  }
}
