import { decodeAbiParameters, type Hex, hexToBigInt, isHex, numberToHex } from 'viem'
import { isRecord, NodeError, type Rpc, Unavailable } from '../shared/host.ts'
import { batchCallsIn, isEntryOf } from './accounts/batch.ts'
import { delegateIn } from './accounts/delegation.ts'
import { decodeRedemption } from './delegations/abi.ts'
import { outcomeOfRedemption } from './delegations/outcome.ts'
import { isShort } from './fees/fee.ts'
import { decodeForward, type ForwardRequest } from './forwarders/abi.ts'
import { provesByReverting } from './forwarders/forward.ts'
import { emptyGas, hasListedCode } from './intent.ts'
import type { Forwarder, NetworkSettings } from './networks.ts'
import { decodeOperation } from './operations/abi.ts'
import { outcomeOfOperation } from './operations/outcome.ts'
import { type Outcome, type Receipt, unknown } from './told.ts'
import type { Content } from './wire.ts'

/**
 * Finds out what the block that includes a transaction did with what was signed. A transaction that succeeds
 * is no proof: a forwarder may carry on after a failed call, and an account without code does nothing.
 */
export async function readOutcome(
  content: Content,
  hash: string,
  { network, rpc }: { readonly network: NetworkSettings; readonly rpc: Rpc },
): Promise<Outcome> {
  try {
    const receipt = await readReceipt(hash, rpc)
    if (receipt === undefined) return unknown('No node has the receipt now.')
    if (receipt.status === '0x0')
      return { kind: 'told', receipt, failures: allOf(content, network, 'The transaction reverted.') }
    if (receipt.status !== '0x1') return unknown('The receipt has no status.')
    const entryPoint = network.entryPoints.get(content.to)
    if (entryPoint !== undefined)
      return await outcomeOfOperation({ content, receipt }, { entryPoint, network, rpc })
    const manager = network.delegationManagers.get(content.to)
    if (manager !== undefined)
      return await outcomeOfRedemption({ content, receipt }, { manager, network, rpc })
    const forwarder = network.forwarders.get(content.to)
    return forwarder === undefined
      ? await outcomeOfAccount({ content, receipt }, network, rpc)
      : await outcomeOfForwarder({ content, receipt }, forwarder, rpc)
  } catch (error) {
    if (error instanceof Unavailable || error instanceof NodeError) return unknown(error.message)
    throw error
  }
}

async function readReceipt(hash: string, rpc: Rpc): Promise<Receipt | undefined> {
  const receipt = await rpc<unknown>('eth_getTransactionReceipt', [hash])
  if (!isRecord(receipt) || !isHex(receipt.blockNumber) || !Array.isArray(receipt.logs)) return undefined
  return receipt as unknown as Receipt
}

/** Names the users of a content. */
export function usersIn(content: Content, network: NetworkSettings): readonly Hex[] {
  if (network.entryPoints.has(content.to)) return [decodeOperation(content.data).operation.sender]
  if (network.delegationManagers.has(content.to)) return [decodeRedemption(content.data).account]
  const forwarder = network.forwarders.get(content.to)
  if (forwarder === undefined) return [content.to]
  return [...new Set(decodeForward(forwarder.kind, content.data).requests.map(({ from }) => from))]
}

function allOf(content: Content, network: NetworkSettings, reason: string): ReadonlyMap<Hex, string> {
  return new Map(usersIn(content, network).map((user) => [user, reason]))
}

/**
 * The batch was executed if the account ran a listed delegate that has this function: it reverts if anything
 * fails. After a block in which the authorization did not apply, or another delegate came first, it does not.
 */
async function outcomeOfAccount(
  { content, receipt }: { content: Content; receipt: Receipt },
  network: NetworkSettings,
  rpc: Rpc,
): Promise<Outcome> {
  const { delegates } = network
  const before = numberToHex(hexToBigInt(receipt.blockNumber) - 1n)
  const [code, codeBefore] = await Promise.all([
    rpc<Hex>('eth_getCode', [content.to, receipt.blockNumber]),
    content.authorizations.length > 0 ? undefined : rpc<Hex>('eth_getCode', [content.to, before]),
  ])
  if (code !== '0x' && delegateIn(code) === undefined)
    return unknown(`The contract ${content.to} is no longer listed as a forwarder.`)
  const wrong = [codeBefore ?? code, code].find((each) => {
    const delegate = delegates.get(delegateIn(each) ?? '0x')
    return delegate === undefined || !isEntryOf(delegate.kind, content.data)
  })
  if (wrong === undefined) {
    const delegate = delegates.get(delegateIn(code) ?? '0x')
    if (delegate === undefined) throw new Error('a delegate was found, and is not listed')
    if (await hasListedCode(delegate, rpc, receipt.blockNumber)) {
      const paid = { account: content.to, calls: batchCallsIn(delegate.kind, content.data) }
      return { kind: 'told', receipt, failures: new Map(), isShort: isShort(paid, receipt, network) }
    }
    const reason = `In the block, the code of the delegate ${delegate.address} is not the listed one.`
    return { kind: 'told', receipt, failures: new Map([[content.to, reason]]) }
  }
  const runs = delegateIn(wrong) ?? 'no code of a delegate'
  if (isEmptyCall(content, receipt)) {
    const reason = `Nothing was executed: in the block, ${content.to} runs ${runs}.`
    return { kind: 'told', receipt, failures: new Map([[content.to, reason]]) }
  }
  const message = `It is included. In the same block, ${content.to} began or ended to run ${runs}, so nothing tells which code was executed.`
  return { kind: 'unknown', message, isByUser: true }
}

/** The gas above that of an empty transaction that could hide that something was executed. */
const HIDDEN_GAS = 8_000

/**
 * True if a transaction used exactly the gas of one whose call finds no code. One that executes a signed
 * batch uses more: it recovers a key, writes a nonce, and makes a call.
 */
function isEmptyCall(content: Content, { gasUsed }: Receipt): boolean {
  const { standard, floor } = emptyGas(content)
  return Number(gasUsed) === Math.max(standard, floor) && floor - standard < HIDDEN_GAS
}

async function outcomeOfForwarder(
  { content, receipt }: { content: Content; receipt: Receipt },
  forwarder: Forwarder,
  rpc: Rpc,
): Promise<Outcome> {
  const { requests } = decodeForward(forwarder.kind, content.data)
  if (!(await hasListedCode(forwarder, rpc, receipt.blockNumber))) {
    const reason = `In the block, the code of the forwarder ${forwarder.address} is not the listed one.`
    return { kind: 'told', receipt, failures: allOfRequests(requests, reason) }
  }
  if (forwarder.kind === 'openzeppelin')
    return { kind: 'told', receipt, failures: failuresByEvents(requests, forwarder, receipt) }
  // Such a forwarder emits nothing itself, and what a failed call has emitted is undone with it.
  if (provesByReverting(forwarder) || receipt.logs.length > 0)
    return { kind: 'told', receipt, failures: new Map() }
  const made = await tracedCall(requests, forwarder, { receipt, rpc })
  if (made === undefined)
    return unknown(
      'It is included. Neither an event nor a trace (debug_traceTransaction) tells whether the call of the user succeeded.',
    )
  return {
    kind: 'told',
    receipt,
    failures: made ? new Map() : allOfRequests(requests, 'The call of the user reverted.'),
  }
}

function allOfRequests(requests: readonly ForwardRequest[], reason: string): ReadonlyMap<Hex, string> {
  return new Map(requests.map(({ from }) => [from, reason]))
}

/** `ExecutedForwardRequest(address indexed signer, uint256 nonce, bool success)` */
const EXECUTED = '0x842fb24a83793558587a3dab2be7674da4a51d09c5542d6dd354e5d0ea70813c'

function failuresByEvents(
  requests: readonly ForwardRequest[],
  { address }: Forwarder,
  { logs }: Receipt,
): ReadonlyMap<Hex, string> {
  const events = logs.filter(isRecord).flatMap((log) => {
    const [topic, signer] = Array.isArray(log.topics) ? (log.topics as readonly Hex[]) : []
    const isOurs = String(log.address).toLowerCase() === address && topic === EXECUTED
    return isOurs && signer !== undefined ? [{ signer, data: log.data as Hex }] : []
  })
  const failures = new Map<Hex, string>()
  for (const [index, { from }] of requests.entries()) {
    const at = events.findIndex(({ signer }) => `0x${signer.slice(26).toLowerCase()}` === from)
    const [event] = at < 0 ? [] : events.splice(at, 1)
    if (event === undefined)
      failures.set(from, `requests[${index}] was skipped: its nonce, deadline or signature no longer held.`)
    else if (!decodeAbiParameters([{ type: 'uint256' }, { type: 'bool' }], event.data)[1])
      failures.set(from, `requests[${index}]: the call of the user reverted.`)
  }
  return failures
}

/** Reads from a trace whether the call of the user succeeded; undefined if no node makes traces. */
async function tracedCall(
  [request]: readonly ForwardRequest[],
  { address }: Forwarder,
  { receipt, rpc }: { readonly receipt: Receipt; readonly rpc: Rpc },
): Promise<boolean | undefined> {
  try {
    const trace = await rpc<unknown>('debug_traceTransaction', [
      receipt.transactionHash,
      { tracer: 'callTracer' },
    ])
    const calls = isRecord(trace) && Array.isArray(trace.calls) ? trace.calls.filter(isRecord) : []
    const call = calls.find(
      ({ type, from, to }) =>
        type === 'CALL' && String(from).toLowerCase() === address && String(to).toLowerCase() === request?.to,
    )
    return call && call.error === undefined
  } catch (error) {
    if (error instanceof NodeError || error instanceof Unavailable) return undefined
    throw error
  }
}
