import { Address, xdr } from '@stellar/stellar-sdk'
import { sourceOf } from '../apply/operation.ts'
import { accountLedgerKey } from '../entry-xdr.ts'
import { decodeFrame, type Transaction } from '../frame.ts'
import { createRecorder, type Recorder } from '../soroban/authorization.ts'
import { type HostOutcome, runHostFunction } from '../soroban/host.ts'
import { dataEntry, nonceLedgerKey } from '../soroban/keys.ts'
import { createEnforcer } from '../soroban/signed-authorization.ts'
import { createStorage, EVERYTHING, MIN_TEMPORARY_LEDGERS, type Storage } from '../soroban/storage.ts'
import { Trap } from '../soroban/trap.ts'
import { createChanges } from '../state.ts'
import type { Node } from './node.ts'
import { preflightFault } from './node-fault.ts'
import { type Params, refuseJsonFormat, stringParam } from './params.ts'
import { extensionData, invocationData, restorationData } from './transaction-data.ts'

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

/** Returns undefined when the authorisations of the call itself are checked. */
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
