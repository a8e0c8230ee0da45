import { passphraseFileOf } from '../src/cli/keys/key-file.ts'
import { toInteger } from '../src/lib/bigint.ts'
import {
  asEntries,
  asEntry,
  asText,
  createDraft,
  type Draft,
  type Entry,
  freeId,
  networkOf,
  refer,
  slugOf,
} from './draft.ts'

/**
 * The names that Defender gave to networks, by its SDK (`defender-sdk`,
 * `packages/base/src/utils/network.ts`), with their chain ids.
 */
const CHAIN_IDS: Readonly<Record<string, number>> = {
  mainnet: 1,
  sepolia: 11_155_111,
  holesky: 17_000,
  xdai: 100,
  sokol: 77,
  fuse: 122,
  bsc: 56,
  bsctest: 97,
  fantom: 250,
  fantomtest: 4_002,
  moonbase: 1_287,
  moonriver: 1_285,
  moonbeam: 1_284,
  matic: 137,
  mumbai: 80_001,
  amoy: 80_002,
  'matic-zkevm': 1_101,
  'matic-zkevm-testnet': 1_442,
  avalanche: 43_114,
  fuji: 43_113,
  optimism: 10,
  'optimism-sepolia': 11_155_420,
  arbitrum: 42_161,
  'arbitrum-nova': 42_170,
  'arbitrum-sepolia': 421_614,
  celo: 42_220,
  alfajores: 44_787,
  'harmony-s0': 1_666_600_000,
  'harmony-test-s0': 1_666_700_000,
  aurora: 1_313_161_554,
  auroratest: 1_313_161_555,
  hedera: 295,
  hederatest: 296,
  zksync: 324,
  'zksync-sepolia': 300,
  base: 8_453,
  'base-sepolia': 84_532,
  linea: 59_144,
  'linea-goerli': 59_140,
  'x-dfk-avax-chain': 53_935,
  'x-dfk-avax-chain-test': 335,
  'x-security-alliance': 888,
  mantle: 5_000,
  scroll: 534_352,
  'scroll-sepolia': 534_351,
  meld: 333_000_333,
  'meld-kanazawa': 222_000_222,
}

/** Names of networks that are no test networks and look like none of these have real money. */
const TEST_NETWORK = /test|sepolia|holesky|mumbai|amoy|fuji|alfajores|moonbase|sokol|goerli|kanazawa/

/** Makes a configuration of what Defender's `listRelayers` returned: `{ items: […] }`, or the list itself. */
export function importDefender(exported: unknown): Draft {
  const draft = createDraft()
  const items = Array.isArray(exported) ? exported : (asEntry(exported)?.items ?? [exported])
  for (const item of asEntries(items)) addRelayer(draft, item)
  if (draft.relayers.length > 0)
    draft.left.push(
      'The keys: Defender kept them in a KMS that exports none. Each relayer has a new key here, and so another address.',
      'API keys, notifications, Actions, Monitors and the history: create API keys and notifications over the API or in the console.',
    )
  return draft
}

function addRelayer(draft: Draft, item: Entry): void {
  const name = asText(item.name) ?? asText(item.relayerId) ?? asText(item.relayerGroupId)
  if (name === undefined) return
  if (item.relayerGroupId !== undefined) {
    draft.left.push(
      `The relayer group "${name}": there are no groups here. An application chooses the relayer.`,
    )
    return
  }
  const chain = asText(item.network) ?? ''
  const chainId = CHAIN_IDS[chain]
  if (chainId === undefined) {
    draft.left.push(
      `The relayer "${name}": its network "${chain}" is not one of Defender's public ones. Describe it in "networks", and add the relayer by hand.`,
    )
    return
  }
  const network = networkOf(draft, chainId, { name: chain, isTestnet: TEST_NETWORK.test(chain) })
  const id = freeId(draft.relayers, slugOf(name) || `relayer-${chain}`)
  draft.signers.push(newKey(draft, { id, name, address: asText(item.address) }))
  draft.relayers.push({
    id,
    name,
    network,
    network_type: 'evm',
    signer_id: id,
    paused: item.paused === true,
    policies: policiesOf(draft, item, { id, network }),
  })
}

interface Replaced {
  readonly id: string
  readonly name: string
  readonly address: string | undefined
}

/** The signer is a place for a key that a person creates: the file names where `keys create` puts it. */
function newKey(draft: Draft, { id, name, address = 'an unknown address' }: Replaced): Entry {
  const path = `keys/${id}.json`
  draft.steps.push(
    `Create the key of "${name}" beside the file: relayer keys create config/${path}. It replaces ${address}: grant the new address its rights, and fund it.`,
  )
  return {
    id,
    type: 'local',
    config: { path, passphrase: { type: 'file', value: passphraseFileOf(path) } },
  }
}

function policiesOf(
  draft: Draft,
  { minBalance, policies: given }: Entry,
  { id, network }: { readonly id: string; readonly network: string },
): Entry {
  const { gasPriceCap, whitelistReceivers, EIP1559Pricing, privateTransactions } = asEntry(given) ?? {}
  const cap = amountOf(gasPriceCap)
  const warn = amountOf(minBalance)
  const receivers = Array.isArray(whitelistReceivers) ? whitelistReceivers.filter(asText) : []
  const isPrivate = privateTransactions !== undefined && privateTransactions !== false
  if (isPrivate) addPrivateEndpoint(draft, network)
  if (cap === undefined)
    draft.steps.push(
      `Set a gas_price_cap for "${id}": without one, only the balance limits what it pays for gas.`,
    )
  return {
    ...(cap !== undefined && { gas_price_cap: cap }),
    // An empty list forbade nothing there, and forbids everything here.
    ...(receivers.length > 0 && { whitelist_receivers: receivers }),
    // True is what the network decides by itself, and cannot be demanded of one that has no base fee.
    ...(EIP1559Pricing === false && { eip1559_pricing: false }),
    ...(isPrivate && { private_transactions: true }),
    // It was the balance below which Defender wrote a mail.
    ...(warn !== undefined && { warn_balance: warn }),
  }
}

/** Amounts of the SDK are numbers or texts. Those of the file are texts, which are exact. */
function amountOf(value: unknown): string | undefined {
  const amount = toInteger(value, true)
  return amount === undefined || amount <= 0n ? undefined : String(amount)
}

function addPrivateEndpoint(draft: Draft, network: string): void {
  const networks = draft.networks as Entry[]
  const index = networks.findIndex((entry) => entry.network === network)
  const entry = networks[index]
  if (entry === undefined || entry.private_rpc_urls !== undefined) return
  const url = refer(
    draft,
    ['PRIVATE_RPC_URL', network],
    `the URL of an endpoint for private transactions of ${network}`,
  )
  networks[index] = { ...entry, private_rpc_urls: [url] }
}
