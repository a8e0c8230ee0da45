import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  type Abi,
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  parseAbi,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { untilReady } from '../../support/plugins.ts'
import {
  API_KEY,
  DEV_ADDRESSES,
  type Service,
  type ServiceOptions,
  startService,
} from '../../support/service.ts'
import {
  CALIBUR_ACCOUNT_CODE,
  CHAINLESS_FORWARDER_CODE,
  COUNTER_CODE,
  GELATO_ACCOUNT_CODE,
  REVERTING_FORWARDER_CODE,
  THIRDWEB_ACCOUNT_CODE,
  TURNKEY_ACCOUNT_CODE,
} from './contract-code.ts'

/** The chain of anvil. */
export const CHAIN_ID = 31337

/** The account of relayer `main`. */
export const RELAYER = DEV_ADDRESSES[0].toLowerCase() as Hex

/** The functions of `Counter`. */
export const COUNTER = parseAbi([
  'constructor(address forwarder)',
  'function increment()',
  'function incrementSilently()',
  'function fail()',
  'function failInBlock()',
  'function burnInBlock()',
  'function failWithWord()',
  'function multicall(bytes[] data)',
  'function counts(address by) view returns (uint256)',
])

/** A kind of forwarder with its contract, and a counter that trusts it. */
export interface ForwarderSite {
  readonly address: Hex
  readonly counter: Hex
}

const FORWARDERS = ['openzeppelin', 'minimal', 'thirdweb', 'thirdweb_chainless'] as const
const ACCOUNTS = ['gelato', 'calibur', 'thirdweb', 'turnkey'] as const

export type ForwarderName = (typeof FORWARDERS)[number]
export type AccountName = (typeof ACCOUNTS)[number]

/** An answer of JSON-RPC. */
export interface Reply<Result = never> {
  readonly id: unknown
  readonly result?: Result
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** The contracts on the chain, and the functions that read and change them. */
export interface GaslessContracts {
  readonly anvil: Anvil
  readonly forwarders: Readonly<Record<ForwarderName, ForwarderSite>>
  readonly delegates: Readonly<Record<AccountName, Hex>>
  /** A contract that trusts nobody. */
  readonly stranger: Hex
  /** The count of an account, of the counter at this address. */
  countOf(counter: Hex, account: Hex): Promise<bigint>
  read<Result = bigint>(
    address: Hex,
    abi: Abi,
    functionName: string,
    args?: readonly unknown[],
  ): Promise<Result>
  deploy(code: Hex, abi?: Abi, args?: readonly unknown[]): Promise<Hex>
  /** Sends from an account of anvil that no relayer uses. */
  transact(call: object): Promise<void>
  user(): PrivateKeyAccount
}

/** Everything that a gasless request on anvil needs. */
export interface GaslessSite extends GaslessContracts {
  readonly service: Service
  /** Starts one more service with the same configuration, and the same database if there is one. */
  start(): Promise<Service>
  /** Calls a method at `/gasless/rpc`, or at that of another entry. */
  call<Result = Hex>(
    method: string,
    params: unknown,
    mount?: string,
    at?: Pick<Service, 'url'>,
  ): Promise<Reply<Result>>
  /** Sends a content, and expects to have it accepted. */
  send(content: object): Promise<Hex>
  stop(): Promise<void>
}

/** The artifacts of OpenZeppelin's packages have the creation code. */
function artifact(name: string, version: 'contracts' | 'contracts-5'): { bytecode: Hex; abi: Abi } {
  return createRequire(import.meta.url)(`@openzeppelin/${version}/build/contracts/${name}.json`)
}

/** The last of anvil's accounts. */
const OUTSIDER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

/** The configuration of the only network. */
export function networkOf(
  site: Pick<GaslessContracts, 'forwarders' | 'delegates'>,
  more: object = {},
): object {
  return {
    chain_id: CHAIN_ID,
    relayer_id: 'main',
    forwarders: FORWARDERS.map((kind) => ({ address: site.forwarders[kind].address, kind })),
    delegates: ACCOUNTS.map((kind) => ({ address: site.delegates[kind], kind })),
    ...more,
  }
}

/** The entry of the plugin. */
export function pluginEntry(id: string, config: object, more: object = {}): object {
  return {
    id,
    path: join(import.meta.dirname, '../../../plugins/gasless/index.ts'),
    mount: `/${id}`,
    sockets: { key_parameter: 'apiKey' },
    raw_response: true,
    allow_get_invocation: true,
    scopes: ['relayers:read', 'transactions:read', 'transactions:write', 'rpc'],
    relayers: ['main'],
    hooks: { on_event: { types: ['transaction_update'] } },
    config,
    ...more,
  }
}

/** Users who may fail and wait as often as a test needs. */
export const GENEROUS = {
  limits: [{ per: 'all', window_seconds: 86_400, requests: 100_000 }],
  failures: { user: 1000, all: 1000, open: 1000 },
}

/** Starts anvil, and creates the contracts of users on it. */
export async function startGaslessContracts(args: readonly string[] = []): Promise<GaslessContracts> {
  const anvil = await startAnvil({ args: [...args] })
  const client = createPublicClient({ transport: http(anvil.url), pollingInterval: 20 })
  const transact = async (call: object) => {
    const hash = await anvil.rpc<Hex>('eth_sendTransaction', [{ from: OUTSIDER, gas: '0x989680', ...call }])
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`transaction ${hash} of the test was reverted`)
    return receipt
  }
  const deploy: GaslessContracts['deploy'] = async (bytecode, abi = [], args = []) => {
    const { contractAddress } = await transact({ data: encodeDeployData({ abi, bytecode, args } as never) })
    if (!contractAddress) throw new Error('no contract was created')
    return contractAddress.toLowerCase() as Hex
  }
  const counterFor = (forwarder: Hex) => deploy(COUNTER_CODE, COUNTER, [forwarder])
  const place = async (code: Hex, abi: Abi = [], args: readonly unknown[] = []) => {
    const address = await deploy(code, abi, args)
    return { address, counter: await counterFor(address) }
  }
  const modern = artifact('ERC2771Forwarder', 'contracts-5')
  const forwarders = {
    openzeppelin: await place(modern.bytecode, modern.abi, ['Shop']),
    minimal: await place(artifact('MinimalForwarder', 'contracts').bytecode),
    thirdweb: await place(REVERTING_FORWARDER_CODE),
    thirdweb_chainless: await place(CHAINLESS_FORWARDER_CODE),
  }
  const delegates = {
    gelato: await deploy(GELATO_ACCOUNT_CODE),
    calibur: await deploy(CALIBUR_ACCOUNT_CODE),
    thirdweb: await deploy(THIRDWEB_ACCOUNT_CODE),
    turnkey: await deploy(TURNKEY_ACCOUNT_CODE),
  }
  const read: GaslessContracts['read'] = (address, abi, functionName, args = []) =>
    client.readContract({ address, abi, functionName, args } as never) as Promise<never>
  return {
    anvil,
    forwarders,
    delegates,
    stranger: await counterFor('0x0000000000000000000000000000000000000001'),
    read,
    deploy,
    transact: async (request) => void (await transact(request)),
    countOf: (counter, account) => read(counter, COUNTER, 'counts', [account]),
    user: () => privateKeyToAccount(generatePrivateKey()),
  }
}

/** Starts anvil, its contracts, and the service with the plugin at `/gasless`. */
export async function startGaslessSite({
  entries = (site) => [pluginEntry('gasless', { networks: [networkOf(site)], ...GENEROUS })],
  options = {},
  args = [],
  prepare = async () => undefined,
}: {
  /** Creates further contracts before the service starts. */
  readonly prepare?: (contracts: GaslessContracts) => Promise<void>
  readonly entries?: (
    site: GaslessContracts,
    /** The Keccak-256 of the code of Gelato's account. */
    gelatoHash: Hex,
  ) => readonly object[]
  readonly options?: Partial<ServiceOptions>
  readonly args?: readonly string[]
} = {}): Promise<GaslessSite> {
  const contracts = await startGaslessContracts(args)
  await prepare(contracts)
  const { anvil } = contracts
  const gelatoCode = await anvil.rpc<Hex>('eth_getCode', [contracts.delegates.gelato, 'latest'])
  const start = async () => {
    const service = await startService({
      rpcUrls: [anvil.url],
      policies: { allow_authorization_list: true },
      plugins: entries(contracts, keccak256(gelatoCode)),
      ...options,
    })
    await untilReady(service)
    return service
  }
  const service = await start()
  const call: GaslessSite['call'] = async (method, params, mount = 'gasless', at = service) => {
    const response = await fetch(`${at.url}/${mount}/rpc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
    })
    if (response.status !== 200) throw new Error(`${method}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Reply<never>
  }
  return {
    ...contracts,
    service,
    start,
    call,
    send: async (content) => {
      const { result, error } = await call('relayer_sendTransaction', content)
      if (result === undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
      return result
    },
    stop: async () => {
      await service.stop()
      await anvil.stop()
    },
  }
}

/** Encodes a call of a counter. */
export function countCall(
  functionName: 'increment' | 'incrementSilently' | 'fail' | 'failInBlock' | 'burnInBlock' | 'failWithWord',
): Hex {
  return encodeFunctionData({ abi: COUNTER, functionName })
}
