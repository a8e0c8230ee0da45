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
function artifact(name: string, version: 'contracts' | 'contracts-7'): Artifact {
  return createRequire(import.meta.url)(`@account-abstraction/${version}/artifacts/${name}.json`)
}

/** Where Simple7702Account expects EntryPoint 0.8. */
const ENTRY_POINT_8 = '0x4337084d9e255ff0702461cf8895ce9e3b5ff108'

/** EntryPoints, and accounts that only they may call. */
export interface OperationContracts {
  /** EntryPoint 0.8 and 0.7. */
  readonly entryPoints: Readonly<Record<'8' | '7', Hex>>
  /** Simple7702Account. */
  readonly delegate: Hex
  /** The implementation of SimpleAccount 0.7, and the hash of the code of its proxies. */
  readonly implementation: { readonly address: Hex; readonly proxyCodeHash: Hex }
  /** Creates a proxy of SimpleAccount 0.7. */
  createAccount(owner: Hex): Promise<Hex>
}

const FACTORY = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
  'function accountImplementation() view returns (address)',
])

/** Creates them on a chain. */
export async function placeOperationContracts(
  { anvil, deploy, read, transact }: GaslessContracts,
  owner: Hex,
): Promise<OperationContracts> {
  const modern = artifact('EntryPoint', 'contracts')
  const { rpc } = anvil
  const code = await rpc<Hex>('eth_getCode', [await deploy(modern.bytecode, modern.abi), 'latest'])
  await rpc('anvil_setCode', [ENTRY_POINT_8, code])
  const entryPoint = await deploy(artifact('EntryPoint', 'contracts-7').bytecode)
  const factoryCode = artifact('SimpleAccountFactory', 'contracts-7')
  const factory = await deploy(factoryCode.bytecode, factoryCode.abi, [entryPoint])
  const createAccount = async (by: Hex): Promise<Hex> => {
    const args = [by, 0n] as const
    await transact({
      to: factory,
      data: encodeFunctionData({ abi: FACTORY, functionName: 'createAccount', args }),
    })
    return lower(await read<Hex>(factory, FACTORY, 'getAddress', args))
  }
  const first = await createAccount(owner)
  return {
    entryPoints: { '8': ENTRY_POINT_8, '7': entryPoint },
    delegate: await deploy(artifact('Simple7702Account', 'contracts').bytecode),
    implementation: {
      address: lower(await read<Hex>(factory, FACTORY, 'accountImplementation')),
      proxyCodeHash: keccak256(await rpc<Hex>('eth_getCode', [first, 'latest'])),
    },
    createAccount,
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
const ACCOUNT = parseAbi(['function execute(address dest, uint256 value, bytes data)'])

/** The fields that a user signs, besides those that follow from the account. */
export interface OperationTerms {
  readonly version?: '8' | '7'
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
  const { version = '8', maxFeePerGas = 0n, beneficiary = RELAYER, times = 1 } = terms
  const entryPoint = contracts.entryPoints[version]
  const { to, value = 0n, data } = call
  const callData =
    terms.callData ?? encodeFunctionData({ abi: ACCOUNT, functionName: 'execute', args: [to, value, data] })
  const unsigned = {
    sender: terms.account ?? user.address,
    nonce: terms.nonce ?? 0n,
    initCode: terms.initCode ?? '0x',
    callData,
    accountGasLimits: words(terms.verificationGas ?? 100_000n, terms.callGas ?? 150_000n),
    preVerificationGas: terms.preVerificationGas ?? 50_000n,
    gasFees: words(maxFeePerGas, maxFeePerGas),
    paymasterAndData: terms.paymasterAndData ?? '0x',
    signature: '0x',
  } as const
  const hash = await site.read<Hex>(entryPoint, ENTRY_POINT, 'getUserOpHash', [unsigned])
  const signature =
    version === '8' ? await user.sign({ hash }) : await user.signMessage({ message: { raw: hash } })
  const operations = Array.from({ length: times }, () => ({ ...unsigned, signature }))
  const handled = encodeFunctionData({
    abi: ENTRY_POINT,
    functionName: 'handleOps',
    args: [operations, beneficiary],
  })
  const delegate = terms.delegate ?? contracts.delegate
  return {
    chainId: String(CHAIN_ID),
    to: entryPoint,
    data: handled,
    ...(terms.begins === true && { authorizationList: [await authorizationOf(user, delegate)] }),
  }
}

function words(first: bigint, second: bigint): Hex {
  return concatHex([numberToHex(first, { size: 16 }), numberToHex(second, { size: 16 })])
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex
}
