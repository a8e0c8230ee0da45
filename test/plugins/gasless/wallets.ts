import {
  concatHex,
  createPublicClient,
  defineChain,
  encodeFunctionData,
  encodePacked,
  type Hex,
  http,
  keccak256,
  parseAbi,
} from 'viem'
import {
  entryPoint06Abi,
  entryPoint06Address,
  toCoinbaseSmartAccount,
  toPackedUserOperation,
  toSimple7702SmartAccount,
} from 'viem/account-abstraction'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  ALCHEMY_ACCOUNT_CODE,
  COINBASE_ACCOUNT_CODE,
  COINBASE_FACTORY_CODE,
  IMPLEMENTATION_PROXY_CODE,
  NEXUS_ACCOUNT_CODE,
} from './contract-code.ts'
import { authorizationOf, type Call, type Sent } from './sign.ts'
import { ENTRY_POINT, type OperationContracts } from './sign-operation.ts'
import { CHAIN_ID, type GaslessContracts, RELAYER } from './site.ts'

/** Where viem expects the factory of Coinbase's wallets, 1.1. */
const COINBASE_FACTORY = '0xba5ed110efdba3d005bfc882d75358acbbb85842'

/** Wallets that only an EntryPoint may call: 0.6 for Coinbase's, 0.7 for the others. */
export interface Wallets {
  readonly coinbase: {
    readonly factory: Hex
    readonly implementation: Hex
    /** The hash of the code of its proxies. */
    readonly proxyCodeHash: Hex
    /** A proxy to which accounts may delegate. */
    readonly delegate: Hex
  }
  readonly alchemy: Hex
  readonly nexus: Hex
}

const CONSTRUCTOR = parseAbi(['constructor(address first)'])

/** Creates them on a chain, and EntryPoint 0.6 where viem expects it. */
export async function placeWallets(
  { anvil, deploy }: GaslessContracts,
  { entryPoints }: OperationContracts,
): Promise<Wallets> {
  const copy = async (from: Hex, to: Hex) =>
    anvil.rpc('anvil_setCode', [to, await anvil.rpc('eth_getCode', [from, 'latest'])])
  await copy(entryPoints['6'], entryPoint06Address)
  const implementation = await deploy(COINBASE_ACCOUNT_CODE, CONSTRUCTOR, [entryPoint06Address])
  await copy(await deploy(COINBASE_FACTORY_CODE, CONSTRUCTOR, [implementation]), COINBASE_FACTORY)
  const delegate = await deploy(IMPLEMENTATION_PROXY_CODE, CONSTRUCTOR, [implementation])
  const proxyCode = await anvil.rpc<Hex>('eth_getCode', [delegate, 'latest'])
  return {
    coinbase: { factory: COINBASE_FACTORY, implementation, proxyCodeHash: keccak256(proxyCode), delegate },
    alchemy: await deploy(ALCHEMY_ACCOUNT_CODE, CONSTRUCTOR, [entryPoints['7']]),
    nexus: await deploy(NEXUS_ACCOUNT_CODE, CONSTRUCTOR, [entryPoints['7']]),
  }
}

/** The entries of the configuration for them. */
export function walletNetwork(
  { coinbase, alchemy, nexus }: Wallets,
  { entryPoints, delegate }: OperationContracts,
) {
  return {
    delegates: [
      ...[alchemy, nexus, delegate].map((address) => ({ address, kind: 'entry_point' })),
      { address: coinbase.delegate, kind: 'entry_point', implementations: [coinbase.implementation] },
    ],
    entry_points: [...Object.values(entryPoints), entryPoint06Address].map((address) => ({ address })),
    implementations: [{ address: coinbase.implementation, proxy_code_hash: coinbase.proxyCodeHash }],
  }
}

/** The chain as viem's accounts read it. */
function clientOf({ anvil }: GaslessContracts) {
  const chain = defineChain({
    id: CHAIN_ID,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [anvil.url] } },
  })
  return createPublicClient({ chain, transport: http() })
}

const GAS = { callGasLimit: 150_000n, verificationGasLimit: 100_000n, preVerificationGas: 50_000n }
const FREE = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

/** viem's account of Coinbase, of EntryPoint 0.6. */
export function coinbaseAccount(site: GaslessContracts, owner: PrivateKeyAccount, address?: Hex) {
  return toCoinbaseSmartAccount({
    client: clientOf(site),
    owners: [owner],
    version: '1.1',
    ...(address && { address }),
  })
}

/** What a test signs besides the calls. */
export interface WalletTerms {
  readonly callData?: Hex
  readonly nonce?: bigint
  readonly verificationGas?: bigint
  readonly factoryData?: Hex
  readonly maxFeePerGas?: bigint
}

/** Signs an operation with viem's account of Coinbase, which creates itself first if it does not exist. */
export async function coinbaseOperation(
  account: Awaited<ReturnType<typeof coinbaseAccount>>,
  calls: readonly Call[],
  terms: WalletTerms = {},
): Promise<Sent> {
  const { factory, factoryData } = await account.getFactoryArgs()
  const creation = terms.factoryData ?? factoryData
  const unsigned = {
    sender: account.address,
    nonce: terms.nonce ?? (await account.getNonce()),
    initCode: factory === undefined || creation === undefined ? '0x' : concatHex([factory, creation]),
    callData: terms.callData ?? (await account.encodeCalls(calls)),
    ...GAS,
    ...(terms.verificationGas !== undefined && { verificationGasLimit: terms.verificationGas }),
    ...FREE,
    ...(terms.maxFeePerGas !== undefined && { maxFeePerGas: terms.maxFeePerGas }),
    paymasterAndData: '0x',
  } as const
  const signature = await account.signUserOperation({ ...unsigned, signature: '0x' })
  const args = [[{ ...unsigned, signature }], RELAYER] as const
  const data = encodeFunctionData({ abi: entryPoint06Abi, functionName: 'handleOps', args })
  return { chainId: String(CHAIN_ID), to: account.entryPoint.address, data }
}

/** Signs an operation with viem's account of EntryPoint 0.8, which begins to delegate if it does not yet. */
export async function simpleOperation(
  site: GaslessContracts,
  owner: PrivateKeyAccount,
  { calls, implementation }: { readonly calls: readonly Call[]; readonly implementation: Hex },
): Promise<Sent> {
  const account = await toSimple7702SmartAccount({ client: clientOf(site), owner, implementation })
  const isDelegated = await account.isDeployed()
  const unsigned = {
    sender: account.address,
    nonce: await account.getNonce(),
    callData: await account.encodeCalls(calls),
    ...GAS,
    ...FREE,
    ...(!isDelegated && {
      ...(await account.getFactoryArgs()),
      authorization: { address: implementation, chainId: CHAIN_ID, nonce: 0 } as never,
    }),
  }
  const signature = await account.signUserOperation({ ...unsigned, signature: '0x' })
  const operation = toPackedUserOperation({ ...unsigned, signature })
  return {
    chainId: String(CHAIN_ID),
    to: account.entryPoint.address,
    data: encodeFunctionData({ abi: ENTRY_POINT, functionName: 'handleOps', args: [[operation], RELAYER] }),
    ...(!isDelegated && { authorizationList: [await authorizationOf(owner, implementation)] }),
  }
}

/** The key of the nonce with which Alchemy's account asks its own key: a global validation, of the entity 0. */
const ALCHEMY_KEY = 1n

/** The key with which Nexus asks a validator. */
const NEXUS_KEY = 0xdeadbeefn

/** Signs an operation of an account of EntryPoint 0.7 that delegates. */
export async function modularOperation(
  site: GaslessContracts,
  {
    user,
    entryPoint,
    wallet,
    callData,
    sequence = 0n,
  }: {
    readonly user: PrivateKeyAccount
    readonly entryPoint: Hex
    readonly wallet: 'alchemy' | 'nexus'
    readonly callData: Hex
    readonly sequence?: bigint
  },
): Promise<Pick<Sent, 'chainId' | 'to' | 'data'>> {
  const unsigned = {
    sender: user.address,
    nonce: ((wallet === 'alchemy' ? ALCHEMY_KEY : NEXUS_KEY) << 64n) + sequence,
    initCode: '0x',
    callData,
    accountGasLimits: encodePacked(['uint128', 'uint128'], [GAS.verificationGasLimit, GAS.callGasLimit]),
    preVerificationGas: GAS.preVerificationGas,
    gasFees: encodePacked(['uint128', 'uint128'], [0n, 0n]),
    paymasterAndData: '0x',
    signature: '0x',
  } as const
  const hash = await site.read<Hex>(entryPoint, ENTRY_POINT, 'getUserOpHash', [unsigned])
  const key = await user.signMessage({ message: { raw: hash } })
  const signature = wallet === 'alchemy' ? concatHex(['0xff00', key]) : key
  return {
    chainId: String(CHAIN_ID),
    to: entryPoint,
    data: encodeFunctionData({
      abi: ENTRY_POINT,
      functionName: 'handleOps',
      args: [[{ ...unsigned, signature }], RELAYER],
    }),
  }
}

const ACCOUNTS = parseAbi([
  'struct Call { address target; uint256 value; bytes data; }',
  'function execute(address target, uint256 value, bytes data)',
  'function executeBatch(Call[] calls)',
  'function execute(bytes32 mode, bytes executionCalldata)',
  'function executeWithoutChainIdValidation(bytes[] calls)',
  'function performCreate(uint256 value, bytes initCode)',
  'function installModule(uint256 moduleTypeId, address module, bytes initData)',
])

/** Encodes a function of one of the accounts. */
export function accountCall(functionName: string, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: ACCOUNTS, functionName, args } as never)
}
