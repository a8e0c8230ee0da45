import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  zeroAddress,
  zeroHash,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount } from 'viem/accounts'
import { type AccountName, CHAIN_ID, type ForwarderName, type GaslessContracts } from './site.ts'

/** What is sent to the plugin. */
export interface Sent {
  readonly chainId: string
  readonly to: Hex
  readonly data: Hex
  readonly authorizationList?: readonly object[]
}

/** What a user signs for a forwarder, besides what follows from the site. */
export interface ForwardTerms {
  readonly to: Hex
  readonly data: Hex
  readonly gas?: bigint
  readonly nonce?: bigint
  readonly deadline?: number
  readonly value?: bigint
  /** Another forwarder, domain or chain than the one to which it is sent. */
  readonly verifyingContract?: Hex
  readonly chainId?: number
  readonly name?: string
}

const FORWARD_ABI = {
  openzeppelin: parseAbi([
    'struct ForwardRequestData { address from; address to; uint256 value; uint256 gas; uint48 deadline; bytes data; bytes signature; }',
    'function execute(ForwardRequestData request) payable',
    'function executeBatch(ForwardRequestData[] requests, address refundReceiver) payable',
    'function nonces(address owner) view returns (uint256)',
  ]),
  minimal: parseAbi([
    'struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; }',
    'function execute(ForwardRequest req, bytes signature) payable returns (bool, bytes)',
    'function getNonce(address from) view returns (uint256)',
  ]),
  thirdweb_chainless: parseAbi([
    'struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; uint256 chainid; }',
    'function execute(ForwardRequest req, bytes signature) payable returns (bool, bytes)',
  ]),
}

const REQUEST = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'gas', type: 'uint256' },
  { name: 'nonce', type: 'uint256' },
]

const REQUEST_TYPES = {
  openzeppelin: [...REQUEST, { name: 'deadline', type: 'uint48' }, { name: 'data', type: 'bytes' }],
  minimal: [...REQUEST, { name: 'data', type: 'bytes' }],
  thirdweb: [...REQUEST, { name: 'data', type: 'bytes' }],
  thirdweb_chainless: [...REQUEST, { name: 'data', type: 'bytes' }, { name: 'chainid', type: 'uint256' }],
}

const NAMES = {
  openzeppelin: 'Shop',
  minimal: 'MinimalForwarder',
  thirdweb: 'GSNv2 Forwarder',
  thirdweb_chainless: 'GSNv2 Forwarder',
}

/** An hour from now, in seconds. */
export function soon(seconds = 3600): number {
  return Math.floor(Date.now() / 1000) + seconds
}

/** Signs a request for a forwarder, with the nonce that it expects. */
export async function signForward(
  site: GaslessContracts,
  kind: ForwarderName,
  user: PrivateKeyAccount,
  terms: ForwardTerms,
) {
  const { address } = site.forwarders[kind]
  const nonce = terms.nonce ?? (await nonceOf(site, kind, user.address))
  const request = {
    from: user.address,
    to: terms.to,
    value: terms.value ?? 0n,
    gas: terms.gas ?? 100_000n,
    nonce,
    deadline: terms.deadline ?? soon(),
    data: terms.data,
    chainid: BigInt(terms.chainId ?? CHAIN_ID),
  }
  const signature = await user.signTypedData({
    domain: {
      name: terms.name ?? NAMES[kind],
      version: kind === 'openzeppelin' ? '1' : '0.0.1',
      verifyingContract: terms.verifyingContract ?? address,
      ...(kind !== 'thirdweb_chainless' && { chainId: terms.chainId ?? CHAIN_ID }),
    },
    primaryType: 'ForwardRequest',
    types: { ForwardRequest: REQUEST_TYPES[kind] },
    message: request,
  })
  return { request, signature }
}

function nonceOf(site: GaslessContracts, kind: ForwarderName, user: Hex): Promise<bigint> {
  const { address } = site.forwarders[kind]
  return kind === 'openzeppelin'
    ? site.read(address, FORWARD_ABI.openzeppelin, 'nonces', [user])
    : site.read(address, FORWARD_ABI.minimal, 'getNonce', [user])
}

/** Signs a request and encodes the call of the forwarder. */
export async function forwardBy(
  site: GaslessContracts,
  kind: ForwarderName,
  user: PrivateKeyAccount,
  terms: ForwardTerms,
): Promise<Sent> {
  const { request, signature } = await signForward(site, kind, user, terms)
  return {
    chainId: String(CHAIN_ID),
    to: site.forwarders[kind].address,
    data: encodeForward(kind, request, signature),
  }
}

type SignedForward = Awaited<ReturnType<typeof signForward>>

function encodeForward(kind: ForwarderName, request: SignedForward['request'], signature: Hex): Hex {
  if (kind === 'openzeppelin')
    return encodeFunctionData({
      abi: FORWARD_ABI.openzeppelin,
      functionName: 'execute',
      args: [{ ...request, signature }],
    })
  if (kind === 'thirdweb_chainless')
    return encodeFunctionData({ abi: FORWARD_ABI.thirdweb_chainless, args: [request, signature] })
  return encodeFunctionData({ abi: FORWARD_ABI.minimal, functionName: 'execute', args: [request, signature] })
}

/** Encodes `executeBatch` of OpenZeppelin's forwarder. */
export function batchOf(site: GaslessContracts, signed: readonly SignedForward[], refundReceiver: Hex): Sent {
  const requests = signed.map(({ request, signature }) => ({ ...request, signature }))
  const data = encodeFunctionData({
    abi: FORWARD_ABI.openzeppelin,
    functionName: 'executeBatch',
    args: [requests, refundReceiver],
  })
  return { chainId: String(CHAIN_ID), to: site.forwarders.openzeppelin.address, data }
}

export interface Call {
  readonly to: Hex
  readonly value?: bigint
  readonly data: Hex
}

/** What a user signs for his account, besides the calls. */
export interface BatchTerms {
  readonly nonce?: bigint
  readonly deadline?: number
  readonly chainId?: number
  /** The account for which it is signed, and to which it is sent. */
  readonly account?: Hex
  readonly revertOnFailure?: boolean
  readonly executor?: Hex
  /** Turnkey: the function. */
  readonly form?: 'single' | 'fields' | 'batch' | 'calls'
}

/** Signs the authorization with which an account begins to delegate. */
export async function authorizationOf(
  user: PrivateKeyAccount,
  address: Hex,
  { nonce = 0, chainId = CHAIN_ID }: { readonly nonce?: number; readonly chainId?: number } = {},
): Promise<object> {
  const { r, s, yParity } = await user.signAuthorization({ address, chainId, nonce })
  return {
    address,
    chainId: numberToHex(chainId),
    nonce: numberToHex(nonce),
    r,
    s,
    yParity: numberToHex(yParity ?? 0, { size: yParity === 0 ? 32 : 1 }),
  }
}

/** Signs a batch for an account, and the authorization that makes it one unless told otherwise. */
export async function batchBy(
  site: GaslessContracts,
  kind: AccountName,
  user: PrivateKeyAccount,
  calls: readonly Call[],
  terms: BatchTerms & {
    readonly delegated?: boolean
    readonly delegate?: Hex
    readonly authorizationNonce?: number
  } = {},
): Promise<Sent> {
  const account = terms.account ?? user.address
  const filled = calls.map(({ to, value = 0n, data }) => ({ to, value, data }))
  const data = await BATCHES[kind]({ site, user, account, calls: filled, terms })
  return {
    chainId: String(CHAIN_ID),
    to: account,
    data,
    ...(terms.delegated !== true && {
      authorizationList: [
        await authorizationOf(user, terms.delegate ?? site.delegates[kind], {
          nonce: terms.authorizationNonce ?? 0,
        }),
      ],
    }),
  }
}

interface Batch {
  readonly site: GaslessContracts
  readonly user: PrivateKeyAccount
  readonly account: Hex
  readonly calls: readonly Required<Call>[]
  readonly terms: BatchTerms
}

const CALL_TYPE = [
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'data', type: 'bytes' },
]

const MODE = '0x0100000000007821000100000000000000000000000000000000000000000000'

const BATCHES: Readonly<Record<AccountName, (batch: Batch) => Promise<Hex>>> = {
  gelato: async ({ user, account, calls, terms: { nonce = 0n, chainId = CHAIN_ID } }) => {
    const signature = await user.signTypedData({
      domain: { name: 'GelatoDelegation', version: '0.0.1', chainId, verifyingContract: account },
      primaryType: 'Execute',
      types: {
        Execute: [
          { name: 'mode', type: 'bytes32' },
          { name: 'calls', type: 'Call[]' },
          { name: 'nonce', type: 'uint256' },
        ],
        Call: CALL_TYPE,
      },
      message: { mode: MODE, calls, nonce },
    })
    const opData = concatHex([numberToHex(nonce >> 64n, { size: 24 }), signature])
    const executionData = encodeAbiParameters(
      parseAbiParameters('(address to, uint256 value, bytes data)[] calls, bytes opData'),
      [calls, opData],
    )
    const abi = parseAbi(['function execute(bytes32 mode, bytes executionData) payable'])
    return encodeFunctionData({ abi, args: [MODE, executionData] })
  },
  calibur: async ({ site, user, account, calls, terms }) => {
    const {
      nonce = 0n,
      chainId = CHAIN_ID,
      deadline = soon(),
      revertOnFailure = true,
      executor = zeroAddress,
    } = terms
    const batch = {
      batchedCall: { calls, revertOnFailure },
      nonce,
      keyHash: zeroHash,
      executor,
      deadline: BigInt(deadline),
    }
    const signature = await user.signTypedData({
      domain: {
        name: 'Calibur',
        version: '1.0.0',
        chainId,
        verifyingContract: account,
        salt: numberToHex(BigInt(site.delegates.calibur), { size: 32 }),
      },
      primaryType: 'SignedBatchedCall',
      types: {
        SignedBatchedCall: [
          { name: 'batchedCall', type: 'BatchedCall' },
          { name: 'nonce', type: 'uint256' },
          { name: 'keyHash', type: 'bytes32' },
          { name: 'executor', type: 'address' },
          { name: 'deadline', type: 'uint256' },
        ],
        BatchedCall: [
          { name: 'calls', type: 'Call[]' },
          { name: 'revertOnFailure', type: 'bool' },
        ],
        Call: CALL_TYPE,
      },
      message: batch,
    })
    const abi = parseAbi([
      'struct Call { address to; uint256 value; bytes data; }',
      'struct BatchedCall { Call[] calls; bool revertOnFailure; }',
      'struct SignedBatchedCall { BatchedCall batchedCall; uint256 nonce; bytes32 keyHash; address executor; uint256 deadline; }',
      'function execute(SignedBatchedCall signedBatchedCall, bytes wrappedSignature) payable',
    ])
    const wrapped = encodeAbiParameters(parseAbiParameters('bytes signature, bytes hookData'), [
      signature,
      '0x',
    ])
    return encodeFunctionData({ abi, args: [batch, wrapped] })
  },
  thirdweb: async ({ user, account, calls, terms: { chainId = CHAIN_ID } }) => {
    const wrapped = {
      calls: calls.map(({ to, value, data }) => ({ target: to, value, data })),
      uid: generatePrivateKey(),
    }
    const signature = await user.signTypedData({
      domain: { name: 'MinimalAccount', version: '1', chainId, verifyingContract: account },
      primaryType: 'WrappedCalls',
      types: {
        WrappedCalls: [
          { name: 'calls', type: 'Call[]' },
          { name: 'uid', type: 'bytes32' },
        ],
        Call: [{ name: 'target', type: 'address' }, ...CALL_TYPE.slice(1)],
      },
      message: wrapped,
    })
    const abi = parseAbi([
      'struct Call { address target; uint256 value; bytes data; }',
      'struct WrappedCalls { Call[] calls; bytes32 uid; }',
      'function executeWithSig(WrappedCalls wrappedCalls, bytes signature) payable',
    ])
    return encodeFunctionData({ abi, args: [wrapped, signature] })
  },
  turnkey: async ({ user, account, calls, terms }) => {
    const { nonce = 0n, chainId = CHAIN_ID, deadline = soon(), form = 'batch' } = terms
    const isSingle = form === 'single' || form === 'fields'
    const [only] = calls
    if (only === undefined) throw new Error('a batch of the test has no call')
    const head = [
      { name: 'nonce', type: 'uint128' },
      { name: 'deadline', type: 'uint32' },
    ]
    const signature = await user.signTypedData({
      domain: { name: 'TKGasDelegate', version: '1.1', chainId, verifyingContract: account },
      primaryType: isSingle ? 'Execution' : 'BatchExecution',
      types: {
        Execution: [...head, ...CALL_TYPE],
        BatchExecution: [...head, { name: 'calls', type: 'Call[]' }],
        Call: CALL_TYPE,
      },
      message: isSingle ? { nonce, deadline, ...only } : { nonce, deadline, calls },
    } as never)
    const packed = concatHex([
      signature,
      numberToHex(nonce, { size: 16 }),
      numberToHex(deadline, { size: 4 }),
    ])
    const abi = parseAbi([
      'struct Call { address to; uint256 value; bytes data; }',
      'function execute(bytes data)',
      'function execute(address to, uint256 value, bytes data)',
      'function executeBatch(bytes data)',
      'function executeBatch(Call[] calls, bytes data)',
    ])
    switch (form) {
      case 'single':
        return encodeFunctionData({
          abi,
          functionName: 'execute',
          args: [concatHex([packed, only.to, numberToHex(only.value, { size: 32 }), only.data])],
        })
      case 'fields':
        return encodeFunctionData({
          abi,
          functionName: 'execute',
          args: [only.to, only.value, concatHex([packed, only.data])],
        })
      case 'batch': {
        const encoded = encodeAbiParameters(
          parseAbiParameters('(address to, uint256 value, bytes data)[] calls'),
          [calls],
        )
        return encodeFunctionData({ abi, functionName: 'executeBatch', args: [concatHex([packed, encoded])] })
      }
      case 'calls':
        return encodeFunctionData({ abi, functionName: 'executeBatch', args: [calls, packed] })
    }
  },
}

/** Bytes that make offsets to them dear: about half of what a request may have. */
export const LONG_BYTES: Hex = `0x${'00'.repeat(30_000)}`

/** Lets 900 offsets lead to what the only one of the first list with one item leads to. Where that has the long bytes, a decoder that follows them makes tens of megabytes. */
export function sharing(data: Hex): Hex {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  return data.replace(`${word(1)}${word(32)}`, `${word(900)}${word(900 * 32).repeat(900)}`) as Hex
}
