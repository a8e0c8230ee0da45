import { decodeAbiParameters, decodeFunctionResult, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { NodeError, type Rpc } from '../../shared/host.ts'
import { invalid, RpcError, revertedWith, simulationFailed } from '../errors.ts'
import { checkDeadline, hasListedCode, type Intent, intrinsicGas, type User } from '../intent.ts'
import type { Forwarder } from '../networks.ts'
import type { Sender } from '../sender.ts'
import type { Content } from '../wire.ts'
import { decodeForward, encodeForward, type ForwardCall, type ForwardRequest, READS } from './abi.ts'
import { checkSignature, type ForwarderDomain, knownDomain } from './signature.ts'
import { checkTarget } from './targets.ts'

/** The most requests of `executeBatch`. */
const MAX_REQUESTS = 20

/** What a forwarder uses for a request besides the call: signature, nonce, event, questions to the target. */
const OWN_GAS = 60_000n

const ZERO = '0x0000000000000000000000000000000000000000'

/**
 * Reads requests of ERC-2771: what is called, by whom, and whether the signatures, nonces and deadlines hold
 * on the chain. @throws RpcError
 */
export async function readForward(
  { forwarder, content }: { readonly forwarder: Forwarder; readonly content: Content },
  sender: Sender,
  { now, leastSeconds }: { readonly now: number; readonly leastSeconds: number },
): Promise<Intent> {
  if (content.authorizations.length > 0)
    throw new RpcError('invalidAuthorizationList', 'authorizationList: a forwarder needs none.')
  const call = decodeForward(forwarder.kind, content.data)
  const { requests } = call
  checkBatch(call)
  for (const [index, request] of requests.entries()) {
    const path = `requests[${index}]`
    checkRequest(request, { forwarder, sender, path })
    if (request.deadline !== undefined)
      checkDeadline(request.deadline, { path: `${path}.deadline`, now, leastSeconds })
  }
  const { leastGas, maxGas } = gasOf(requests, content, forwarder)
  const nonces = await checkOnChain(requests, forwarder, sender)
  const deadlines = requests.flatMap(({ deadline }) => deadline ?? [])
  return {
    users: usersOf(requests, nonces, forwarder),
    deadline: deadlines.length === 0 ? undefined : Math.min(...deadlines),
    leastGas,
    maxGas,
    isUncertain: forwarder.targets === undefined,
    simulate: () => simulate({ forwarder, content, call }, { sender, maxGas }),
  }
}

function checkBatch({ requests, refundReceiver }: ForwardCall): void {
  if (requests.length === 0) throw invalid('data: executeBatch needs at least one request.')
  if (requests.length > MAX_REQUESTS)
    throw new RpcError('tooLarge', `data: executeBatch may have at most ${MAX_REQUESTS} requests.`)
  const hasSeveral = new Set(requests.map(({ from }) => from)).size > 1
  if (hasSeveral && refundReceiver === ZERO)
    throw invalid(
      'data: a batch of several users needs a refundReceiver, so that one of them cannot make it fail for the others.',
    )
}

function checkRequest(
  request: ForwardRequest,
  { forwarder, sender, path }: { forwarder: Forwarder; sender: Sender; path: string },
): void {
  if (request.value !== 0n) throw invalid(`${path}.value: expected 0; the relayer sends no coins.`)
  const { network, own } = sender
  if (own.has(request.to) || own.has(request.from) || network.forwarders.has(request.to))
    throw new RpcError('rejected', `${path}.to: ${request.to} is not called through this forwarder.`)
  checkTarget(forwarder, request, path)
}

/** What each user may use is what he has signed; the operator pays only for so much. */
function gasOf(requests: readonly ForwardRequest[], content: Content, { maxGas }: Forwarder) {
  const forwarded = requests.reduce((sum, { gas }) => sum + (gas * 64n) / 63n + OWN_GAS, 0n)
  const leastGas = intrinsicGas(content) + forwarded
  if (leastGas > maxGas)
    throw new RpcError(
      'tooLarge',
      `gas: what is signed may need ${leastGas} gas with the forwarder's own; at most ${maxGas} are paid for. Sign less gas.`,
    )
  return { leastGas, maxGas }
}

/** Checks nonces and signatures, and that the contracts trust the forwarder. Returns the nonces. */
async function checkOnChain(
  requests: readonly ForwardRequest[],
  forwarder: Forwarder,
  { rpc, network: { chainId } }: Sender,
): Promise<readonly bigint[]> {
  const { address, kind } = forwarder
  const signers = [...new Set(requests.map(({ from }) => from))]
  const targets = [...new Set(requests.map(({ to }) => to))]
  const getter = kind === 'openzeppelin' ? 'nonces' : 'getNonce'
  const [code, domain, trusted, ...counts] = await Promise.all([
    rpc<Hex>('eth_getCode', [address, 'latest']),
    readDomain(forwarder, rpc),
    Promise.all(targets.map((target) => trusts(target, address, rpc))),
    ...signers.map((from) => readNonce(address, getter, from, rpc)),
  ])
  if (code === '0x')
    throw new RpcError('rejected', `to: no forwarder is at ${address} on the chain ${chainId}.`)
  if (!(await hasListedCode(forwarder, rpc)))
    throw new RpcError('rejected', `to: the code of the forwarder ${address} is not the listed one.`)
  const stranger = targets.find((_, index) => trusted[index] !== true)
  if (stranger !== undefined)
    throw new RpcError(
      'rejected',
      `${stranger} does not trust the forwarder ${address} (isTrustedForwarder).`,
    )
  const next = new Map(signers.map((from, index) => [from, counts[index] ?? 0n]))
  const nonces: bigint[] = []
  for (const [index, request] of requests.entries()) {
    const path = `requests[${index}]`
    const nonce = next.get(request.from) ?? 0n
    next.set(request.from, nonce + 1n)
    if (request.nonce !== undefined && request.nonce !== nonce)
      throw new RpcError(
        'rejected',
        `${path}.nonce: ${request.nonce} is signed, and the forwarder expects ${nonce}. A user's requests are sent one after the other.`,
      )
    await checkSignature(forwarder, request, { domain, nonce, chainId, path })
    nonces.push(nonce)
  }
  return nonces
}

async function readDomain(forwarder: Forwarder, rpc: Rpc): Promise<ForwarderDomain> {
  const known = knownDomain(forwarder)
  if (known !== undefined) return known
  const data = encodeFunctionData({ abi: READS, functionName: 'eip712Domain' })
  const result = await rpc<Hex>('eth_call', [{ to: forwarder.address, data }, 'latest'])
  try {
    const [, name, version] = decodeFunctionResult({ abi: READS, functionName: 'eip712Domain', data: result })
    return { name, version }
  } catch {
    throw new RpcError('rejected', `to: the forwarder ${forwarder.address} does not tell its domain.`)
  }
}

async function readNonce(
  forwarder: Hex,
  functionName: 'nonces' | 'getNonce',
  from: Hex,
  rpc: Rpc,
): Promise<bigint> {
  const data = encodeFunctionData({ abi: READS, functionName, args: [from] })
  const result = await rpc<Hex>('eth_call', [{ to: forwarder, data }, 'latest'])
  try {
    return decodeFunctionResult({ abi: READS, functionName, data: result })
  } catch {
    throw new RpcError('rejected', `to: the forwarder ${forwarder} does not tell the nonce of ${from}.`)
  }
}

/** The gas for the question, as ERC-2771 says, and what a transaction needs besides. */
const TRUST_GAS = numberToHex(50_000 + 25_000)

async function trusts(target: Hex, forwarder: Hex, rpc: Rpc): Promise<boolean> {
  const data = encodeFunctionData({ abi: READS, functionName: 'isTrustedForwarder', args: [forwarder] })
  try {
    const result = await rpc<Hex>('eth_call', [{ to: target, data, gas: TRUST_GAS }, 'latest'])
    return result.length === 66 && BigInt(result) === 1n
  } catch (error) {
    if (error instanceof NodeError) return false
    throw error
  }
}

/** Names each nonce of each user, of which one request may wait at a time. */
function usersOf(
  requests: readonly ForwardRequest[],
  nonces: readonly bigint[],
  { address }: Forwarder,
): readonly User[] {
  const users = new Map<Hex, string[]>()
  for (const [index, { from }] of requests.entries())
    users.set(from, [...(users.get(from) ?? []), `${address} ${nonces[index]}`])
  return [...users].map(([user, slots]) => ({ address: user, slots }))
}

async function simulate(
  { forwarder, content, call }: { forwarder: Forwarder; content: Content; call: ForwardCall },
  { sender: { rpc, address }, maxGas }: { sender: Sender; maxGas: bigint },
): Promise<bigint> {
  const base = { from: address, to: content.to, value: '0x0' }
  const gas = numberToHex(maxGas)
  // A failed call in a batch does not make it fail, so the first request of each user is made alone as well.
  const alone =
    call.refundReceiver === undefined
      ? []
      : firstOfEach(call.requests).map((request) => encodeForward(forwarder.kind, request))
  const [estimate, result] = await Promise.all([
    rpc<Hex>('eth_estimateGas', [{ ...base, data: content.data }]),
    ...[content.data, ...alone].map((data) => rpc<Hex>('eth_call', [{ ...base, data, gas }, 'latest'])),
  ]).catch((error: unknown) => {
    throw error instanceof NodeError ? simulationFailed(error) : error
  })
  if (!provesByReverting(forwarder)) checkReturned(result ?? '0x')
  return BigInt(estimate)
}

function firstOfEach(requests: readonly ForwardRequest[]): readonly ForwardRequest[] {
  return requests.filter(({ from }, index) => requests.findIndex((other) => other.from === from) === index)
}

/** True for forwarders whose `execute` reverts where the call of the user fails. */
export function provesByReverting({ kind }: Pick<Forwarder, 'kind'>): boolean {
  return kind === 'openzeppelin' || kind === 'thirdweb'
}

function checkReturned(result: Hex): void {
  const [success, data] = returnedBy(result)
  if (!success) throw revertedWith('The simulation fails: the call of the user reverts.', data)
}

function returnedBy(result: Hex): readonly [boolean, Hex | undefined] {
  try {
    return decodeAbiParameters([{ type: 'bool' }, { type: 'bytes' }], result)
  } catch {
    return [false, undefined]
  }
}
