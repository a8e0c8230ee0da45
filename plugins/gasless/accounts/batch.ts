import { type Hex, numberToHex } from 'viem'
import { NodeError } from '../../shared/host.ts'
import { invalid, RpcError, simulationFailed } from '../errors.ts'
import { signerOf } from '../forwarders/signature.ts'
import { checkDeadline, hasListedCode, type Intent, intrinsicGas, requireKeySignature } from '../intent.ts'
import type { AccountKindName, Delegate } from '../networks.ts'
import type { Sender } from '../sender.ts'
import type { Content } from '../wire.ts'
import type { AccountKind, BatchCall, SignedBatch } from './account.ts'
import { authorizationsOfCall, checkAuthorization } from './authorization.ts'
import { CALIBUR } from './calibur.ts'
import { delegateIn } from './delegation.ts'
import { GELATO } from './gelato.ts'
import { THIRDWEB } from './thirdweb.ts'
import { TURNKEY } from './turnkey.ts'

/** Accounts that nobody but themselves and an EntryPoint may call. */
const ENTRY_POINT: AccountKind = {
  selectors: new Set(),
  callsOf: () => [],
  read: () => Promise.reject(new Error('no batch is executed for anybody')),
}

const KINDS: Readonly<Record<AccountKindName, AccountKind>> = {
  entry_point: ENTRY_POINT,
  gelato: GELATO,
  calibur: CALIBUR,
  thirdweb: THIRDWEB,
  turnkey: TURNKEY,
}

/** True for a function with which an account of this kind executes a signed batch. */
export function isEntryOf(kind: AccountKindName, data: Hex): boolean {
  return KINDS[kind].selectors.has(data.slice(0, 10))
}

/** Decodes the calls of a batch that was sent. */
export function batchCallsIn(kind: AccountKindName, data: Hex): readonly BatchCall[] {
  return KINDS[kind].callsOf(data)
}

/**
 * Reads the signed batch of an account of EIP-7702: the account delegates to a listed contract, or begins to
 * by its authorization, and its own key has signed the batch. @throws RpcError
 */
export async function readBatch(
  content: Content,
  sender: Sender,
  { now, leastSeconds }: { readonly now: number; readonly leastSeconds: number },
): Promise<Intent> {
  const { to: account } = content
  const { rpc, network, own } = sender
  if (own.has(account))
    throw new RpcError('rejected', `to: ${account} is an account of this relayer, which is never called.`)
  const [authorization] = content.authorizations
  const [code, nonce] = await Promise.all([
    rpc<Hex>('eth_getCode', [account, 'latest']),
    rpc<Hex>('eth_getTransactionCount', [account, 'latest']),
  ])
  const present = delegateIn(code)
  if (present === undefined && code !== '0x') throw notRelayable(account)
  if (authorization !== undefined)
    await checkAuthorization(authorization, { account, nonce: BigInt(nonce), network })
  const address = authorization?.address ?? present
  const delegate = address === undefined ? undefined : network.delegates.get(address)
  if (delegate === undefined) throw notRelayable(account, address)
  if (!(await hasListedCode(delegate, rpc)))
    throw new RpcError('rejected', `to: the code of the delegate ${delegate.address} is not the listed one.`)
  const calls = callsOf(content, sender)
  const batch = await decode(content, delegate, {
    chainId: network.chainId,
    ask: (data) => calls.call({ data }),
  })
  requireKeySignature(batch.signature, 'data: the signature')
  if ((await signerOf(batch.hash, batch.signature)) !== account)
    throw new RpcError(
      'invalidSignature',
      `data: the batch is not signed by ${account} for the chain ${network.chainId} and its nonce ${batch.nonce}.`,
    )
  if (batch.deadline !== undefined)
    checkDeadline(batch.deadline, { path: 'data: the deadline', now, leastSeconds })
  return {
    users: [{ address: account, slots: slotsOf(account, batch, authorization !== undefined) }],
    deadline: batch.deadline,
    leastGas: intrinsicGas(content),
    maxGas: delegate.maxGas,
    calls: batchCallsIn(delegate.kind, content.data),
    // The batch calls whatever the user has chosen.
    isUncertain: true,
    simulate: async () => {
      const [gas] = await Promise.all([
        calls.estimate(),
        calls.call({ data: content.data, gas: numberToHex(delegate.maxGas) }),
      ])
      return gas
    },
  }
}

function notRelayable(account: Hex, delegate?: Hex): RpcError {
  const now = delegate === undefined ? 'no contract' : `${delegate}, which is not listed`
  return new RpcError(
    'rejected',
    `to: ${account} is neither a listed forwarder nor an account with a listed delegate (it delegates to ${now}).`,
  )
}

async function decode(
  content: Content,
  { kind }: Delegate,
  context: { readonly chainId: number; readonly ask: (data: Hex) => Promise<Hex> },
): Promise<SignedBatch> {
  const expected = `data: expected a signed batch as an account of the kind ${kind} executes it for anybody, encoded by its ABI.`
  if (!isEntryOf(kind, content.data)) throw invalid(expected)
  try {
    return await KINDS[kind].read({ account: content.to, data: content.data, ...context })
  } catch (error) {
    // Only what decodes the data throws errors without a class of their own.
    if (isDecodingError(error)) throw invalid(expected)
    throw error
  }
}

function isDecodingError(error: unknown): boolean {
  return error instanceof Error && (error.constructor === Error || 'shortMessage' in error)
}

/** Calls of the account, as if the authorization had applied. */
function callsOf({ to, data, authorizations }: Content, { rpc, address }: Sender) {
  const base = {
    from: address,
    to,
    value: '0x0',
    ...authorizationsOfCall(authorizations),
  }
  const failed = (error: unknown) => {
    throw error instanceof NodeError ? simulationFailed(error) : error
  }
  return {
    call: (call: { readonly data: Hex; readonly gas?: Hex }) =>
      rpc<Hex>('eth_call', [{ ...base, ...call }, 'latest']).catch(failed) as Promise<Hex>,
    estimate: async () =>
      BigInt((await rpc<Hex>('eth_estimateGas', [{ ...base, data }]).catch(failed)) as Hex),
  }
}

/** What one request that waits keeps from the others: the nonce of the batch, and the authorization. */
function slotsOf(account: Hex, { nonce }: SignedBatch, hasList: boolean): readonly string[] {
  return [`${account} ${nonce}`, ...(hasList ? [`${account} authorization`] : [])]
}
