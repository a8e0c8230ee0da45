import {
  type Abi,
  createPublicClient,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { DEV_ADDRESSES, type Service, type ServiceOptions, startService } from '../../support/service.ts'
import { TOKEN_CODE } from './contract-code.ts'

/** The chain of anvil, as x402 names it. */
export const NETWORK = 'eip155:31337'

/** The functions of `AuthorizationToken` that tests call. */
export const TOKEN = parseAbi([
  'constructor(string name, string version, uint256 feePercent)',
  'function mint(address to, uint256 value)',
  'function balanceOf(address account) view returns (uint256)',
])

/** What a site needs of the service. */
export type SiteService = Pick<Service, 'url' | 'api' | 'stop'>

/** Everything that a payment on anvil needs. */
export interface EvmSite {
  readonly anvil: Anvil
  readonly service: SiteService
  /** A token with EIP-3009. */
  readonly token: Hex
  /** Who gets paid. */
  readonly payTo: Hex
  /** The configuration of the plugin. */
  readonly config: { readonly networks: readonly object[] }
  /** Creates a contract and returns its address. */
  deploy(code: Hex, abi?: Abi, args?: readonly unknown[]): Promise<Hex>
  /** A new payer with this many units of the token. */
  payer(units?: bigint): Promise<PrivateKeyAccount>
  mint(to: Hex, units: bigint, at?: Hex): Promise<void>
  balanceOf(account: Hex, token?: Hex): Promise<bigint>
  stop(): Promise<void>
}

/** What a payer has if a test does not say. */
export const FUNDS = 1_000_000n

/** Starts anvil, the service and a token. The service reaches the node at `urlOf`, and is started by `start`. */
export async function startEvmSite(
  options: Partial<ServiceOptions> = {},
  args: readonly string[] = [],
  urlOf: (anvil: Anvil) => Promise<string> = async ({ url }) => url,
  start: (options: ServiceOptions) => Promise<SiteService> = startService,
): Promise<EvmSite> {
  const anvil = await startAnvil({ args: [...args] })
  const service = await start({ rpcUrls: [await urlOf(anvil)], ...options })
  const client = createPublicClient({ transport: http(anvil.url), pollingInterval: 20 })
  // One after the other: anvil gives two at the same moment the same nonce.
  let last: Promise<unknown> = Promise.resolve()
  const transact = (call: object) => {
    const sent = last.then(() => send(call))
    last = sent.catch(() => undefined)
    return sent
  }
  const send = async (call: object) => {
    // The last of anvil's accounts, which no relayer uses.
    const from = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
    const hash = await anvil.rpc<Hex>('eth_sendTransaction', [{ from, gas: '0x4c4b40', ...call }])
    if (args.includes('--no-mining')) await anvil.rpc('evm_mine')
    const receipt = await client.waitForTransactionReceipt({ hash })
    if (receipt.status !== 'success') throw new Error(`transaction ${hash} of the test was reverted`)
    return receipt
  }
  const deploy: EvmSite['deploy'] = async (code, abi = [], args = []) => {
    const { contractAddress } = await transact({
      data: encodeDeployData({ abi, bytecode: code, args } as never),
    })
    if (!contractAddress) throw new Error('no contract was created')
    return contractAddress
  }
  const token = await deploy(TOKEN_CODE, TOKEN, ['Test Dollar', '2', 0n])
  const mint = async (to: Hex, units: bigint, at = token) => {
    await transact({
      to: at,
      data: encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [to, units] }),
    })
  }
  return {
    anvil,
    service,
    token,
    payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    config: { networks: [{ network: NETWORK, relayer_id: 'main' }] },
    deploy,
    mint,
    payer: async (units = FUNDS) => {
      const account = privateKeyToAccount(generatePrivateKey())
      if (units > 0n) await mint(account.address, units)
      return account
    },
    balanceOf: (account, at = token) =>
      client.readContract({ address: at, abi: TOKEN, functionName: 'balanceOf', args: [account] }),
    stop: async () => {
      await service.stop()
      await anvil.stop()
    },
  }
}

/** The account of relayer `main`. */
export const RELAYER = DEV_ADDRESSES[0]
