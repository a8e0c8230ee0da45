import { createRequire } from 'node:module'
import { type Abi, concatHex, encodeFunctionData, type Hex, keccak256, numberToHex, parseAbi } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authorizationOf, type Call, type Sent } from './sign.ts'
import { CHAIN_ID, type GaslessContracts, RELAYER } from './site.ts'

interface Artifact {
  readonly abi: Abi
  readonly bytecode: Hex
}

/** The contracts of eth-infinitism, as npm has them. */
function artifact(name: string, version: 'contracts' | 'contracts-7' | 'contracts-6'): Artifact {
  return createRequire(import.meta.url)(`@account-abstraction/${version}/artifacts/${name}.json`)
}

/** Where Simple7702Account expects EntryPoint 0.8. */
const ENTRY_POINT_8 = '0x4337084d9e255ff0702461cf8895ce9e3b5ff108'

/** The versions of EntryPoints. */
export type Version = '8' | '7' | '6'

/** SimpleAccount, of which accounts are proxies. */
interface ProxiedAccount {
  readonly entryPoint: Hex
  readonly factory: Hex
  /** What the proxies run, and the hash of their own code. */
  readonly implementation: { readonly address: Hex; readonly proxyCodeHash: Hex }
}

/** EntryPoints, and accounts that only they may call. */
export interface OperationContracts {
  readonly entryPoints: Readonly<Record<Version, Hex>>
  /** Simple7702Account. */
  readonly delegate: Hex
  /** Those of 0.8 have an EntryPoint of their own, which alone may create them. */
  readonly proxied: Readonly<Record<Version, ProxiedAccount>>
  /** Creates a proxy of SimpleAccount. */
  createAccount(owner: Hex, version?: '7' | '6'): Promise<Hex>
}

const FACTORY = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
  'function accountImplementation() view returns (address)',
  'function senderCreator() view returns (address)',
])

/** Creates them on a chain. */
export async function placeOperationContracts(
  { anvil, deploy, read, transact }: GaslessContracts,
  owner: Hex,
): Promise<OperationContracts> {
  const modern = artifact('EntryPoint', 'contracts')
  const { rpc } = anvil
  const newest = await deploy(modern.bytecode, modern.abi)
  await rpc('anvil_setCode', [ENTRY_POINT_8, await rpc('eth_getCode', [newest, 'latest'])])
  const entryPoints = {
    '8': ENTRY_POINT_8,
    '7': await deploy(artifact('EntryPoint', 'contracts-7').bytecode),
    '6': await deploy(artifact('EntryPoint', 'contracts-6').bytecode),
  } as const
  const createBy = async (factory: Hex, by: Hex, from?: Hex): Promise<Hex> => {
    const args = [by, 0n] as const
    await transact({
      to: factory,
      ...(from && { from }),
      data: encodeFunctionData({ abi: FACTORY, functionName: 'createAccount', args }),
    })
    return lower(await read<Hex>(factory, FACTORY, 'getAddress', args))
  }
  const place = async (entryPoint: Hex, version: Parameters<typeof artifact>[1]): Promise<ProxiedAccount> => {
    const { bytecode, abi } = artifact('SimpleAccountFactory', version)
    const factory = await deploy(bytecode, abi, [entryPoint])
    const creator =
      version === 'contracts' ? await read<Hex>(entryPoint, FACTORY, 'senderCreator') : undefined
    if (creator !== undefined) {
      await rpc('anvil_impersonateAccount', [creator])
      await rpc('anvil_setBalance', [creator, '0xde0b6b3a7640000'])
    }
    const first = await createBy(factory, owner, creator)
    return {
      entryPoint,
      factory,
      implementation: {
        address: lower(await read<Hex>(factory, FACTORY, 'accountImplementation')),
        proxyCodeHash: keccak256(await rpc<Hex>('eth_getCode', [first, 'latest'])),
      },
    }
  }
  const proxied = {
    '8': await place(newest, 'contracts'),
    '7': await place(entryPoints['7'], 'contracts-7'),
    '6': await place(entryPoints['6'], 'contracts-6'),
  }
  return {
    entryPoints,
    delegate: await deploy(artifact('Simple7702Account', 'contracts').bytecode),
    proxied,
    createAccount: (by, version = '7') => createBy(proxied[version].factory, by),
  }
}

/** The entries of the configuration for all of them. */
export function operationNetwork({ entryPoints, delegate, proxied }: OperationContracts): object {
  return {
    delegates: [{ address: delegate, kind: 'entry_point' }],
    entry_points: Object.values(entryPoints).map((address) => ({ address })),
    implementations: Object.values(proxied).map(({ implementation: { address, proxyCodeHash } }) => ({
      address,
      proxy_code_hash: proxyCodeHash,
    })),
  }
}

/** The functions of EntryPoints and accounts that tests call. */
export const ENTRY_POINT = parseAbi([
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
  'function handleOps(PackedUserOperation[] ops, address beneficiary)',
  'function getUserOpHash(PackedUserOperation userOp) view returns (bytes32)',
  'function depositTo(address account) payable',
  'function balanceOf(address account) view returns (uint256)',
])
const ENTRY_POINT_6 = parseAbi([
  'struct UserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature; }',
  'function handleOps(UserOperation[] ops, address beneficiary)',
  'function getUserOpHash(UserOperation userOp) view returns (bytes32)',
])
const ACCOUNT = parseAbi(['function execute(address dest, uint256 value, bytes data)'])

/** The fields that a user signs, besides those that follow from the account. */
export interface OperationTerms {
  readonly version?: Version
  readonly entryPoint?: Hex
  readonly account?: Hex
  readonly nonce?: bigint
  readonly initCode?: Hex
  readonly callData?: Hex
  readonly verificationGas?: bigint
  readonly callGas?: bigint
  readonly preVerificationGas?: bigint
  readonly maxFeePerGas?: bigint
  readonly paymasterAndData?: Hex
  readonly beneficiary?: Hex
  /** The number of times that the operation is in the list. */
  readonly times?: number
  /** Signs the authorization as well. */
  readonly begins?: boolean
  readonly delegate?: Hex
}

/** Signs an operation that makes a call, and encodes the call of its EntryPoint. */
export async function operationBy(
  site: GaslessContracts,
  contracts: OperationContracts,
  { user, call, terms = {} }: { user: PrivateKeyAccount; call: Call; terms?: OperationTerms },
): Promise<Sent> {
  const { version = '8' } = terms
  const to = terms.entryPoint ?? contracts.entryPoints[version]
  const delegate = terms.delegate ?? contracts.delegate
  return {
    chainId: String(CHAIN_ID),
    to,
    data: await (version === '6' ? unpackedBy : packedBy)(site, to, { user, call, terms }),
    ...(terms.begins === true && { authorizationList: [await authorizationOf(user, delegate)] }),
  }
}

interface Signed {
  readonly user: PrivateKeyAccount
  readonly call: Call
  readonly terms: OperationTerms
}

async function packedBy(site: GaslessContracts, to: Hex, { user, call, terms }: Signed): Promise<Hex> {
  const { maxFeePerGas = 0n, beneficiary = RELAYER } = terms
  const unsigned = {
    ...partsOf({ user, call, terms }),
    accountGasLimits: words(terms.verificationGas ?? 100_000n, terms.callGas ?? 150_000n),
    gasFees: words(maxFeePerGas, maxFeePerGas),
  } as const
  const hash = await site.read<Hex>(to, ENTRY_POINT, 'getUserOpHash', [unsigned])
  const signature =
    terms.version === '7' ? await user.signMessage({ message: { raw: hash } }) : await user.sign({ hash })
  const args = [repeated({ ...unsigned, signature }, terms), beneficiary] as const
  return encodeFunctionData({ abi: ENTRY_POINT, functionName: 'handleOps', args })
}

async function unpackedBy(site: GaslessContracts, to: Hex, { user, call, terms }: Signed): Promise<Hex> {
  const { maxFeePerGas = 0n, beneficiary = RELAYER } = terms
  const unsigned = {
    ...partsOf({ user, call, terms }),
    callGasLimit: terms.callGas ?? 150_000n,
    verificationGasLimit: terms.verificationGas ?? 100_000n,
    maxFeePerGas,
    maxPriorityFeePerGas: maxFeePerGas,
  } as const
  const hash = await site.read<Hex>(to, ENTRY_POINT_6, 'getUserOpHash', [unsigned])
  const signature = await user.signMessage({ message: { raw: hash } })
  const args = [repeated({ ...unsigned, signature }, terms), beneficiary] as const
  return encodeFunctionData({ abi: ENTRY_POINT_6, functionName: 'handleOps', args })
}

function partsOf({ user, call: { to, value = 0n, data }, terms }: Signed) {
  return {
    sender: terms.account ?? user.address,
    nonce: terms.nonce ?? 0n,
    initCode: terms.initCode ?? '0x',
    callData:
      terms.callData ??
      encodeFunctionData({ abi: ACCOUNT, functionName: 'execute', args: [to, value, data] }),
    preVerificationGas: terms.preVerificationGas ?? 50_000n,
    paymasterAndData: terms.paymasterAndData ?? '0x',
    signature: '0x',
  } as const
}

function repeated<Signed>(operation: Signed, { times = 1 }: OperationTerms): readonly Signed[] {
  return Array.from({ length: times }, () => operation)
}

function words(first: bigint, second: bigint): Hex {
  return concatHex([numberToHex(first, { size: 16 }), numberToHex(second, { size: 16 })])
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex
}
