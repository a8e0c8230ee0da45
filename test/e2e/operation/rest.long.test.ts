import { createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterEach, expect, test } from 'vitest'
import { startSolana } from '../../../simulators/solana/start-solana.ts'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, anvilNetwork, startAnvil } from '../../support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../support/faulty-node.ts'
import { plainSigner, type Service, startService, type Transaction } from '../../support/service.ts'
import { addressOf, SOL, seedOf, solanaConfig } from '../../support/solana-scenario.ts'
import { keypairOf, stellarConfig, XLM } from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

/** The shortest interval between two checks, in s. */
const INTERVAL = { RELAYER_HEALTH_INTERVAL_SECONDS: '5' }

/** What ends with the test, the last first. */
const open: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  while (open.length > 0) await open.pop()?.stop()
})

function opened<T extends { stop(): Promise<unknown> }>(thing: T): T {
  open.push(thing)
  return thing
}

/** A network on which accounts are made, and the relayers that use them. */
interface Setting {
  readonly url: string
  /** The call by which a check begins. */
  readonly identity: string
  fund(index: number): Promise<void> | void
  secret(index: number): string
  /** The network of the configuration file, behind these nodes. */
  network(urls: readonly string[]): object
  /** The lowest balance, and the one after a payment, in the smallest unit. */
  readonly amounts: readonly [bigint, bigint]
}

const evmKey = (index: number) => `0x${(index + 1).toString(16).padStart(64, '0')}` as const

async function onEvm(): Promise<Setting> {
  const anvil = opened(await startAnvil({ args: ['--block-time', '1'] }))
  return {
    url: anvil.url,
    identity: 'eth_chainId',
    fund: async (index) => {
      await anvil.rpc('anvil_setBalance', [privateKeyToAddress(evmKey(index)), '0xde0b6b3a7640000'])
    },
    secret: evmKey,
    network: (urls) => anvilNetwork(urls, { average_blocktime_ms: 1_000 }),
    amounts: [10n ** 15n, 10n ** 16n],
  }
}

async function onSolana(): Promise<Setting> {
  const solana = opened(await startSolana({ slotMs: 400 }))
  return {
    url: solana.url,
    identity: 'getGenesisHash',
    fund: (index) => solana.airdrop(addressOf(`relayer-${index}`), SOL),
    secret: (index) => Buffer.from(seedOf(`relayer-${index}`)).toString('hex'),
    network: (urls) => ({ ...solanaConfig(solana, { urls }).networks?.[0], average_blocktime_ms: 400 }),
    amounts: [SOL / 10n, SOL / 5n],
  }
}

async function onStellar(): Promise<Setting> {
  const ledger = opened(await startLedger({ closeEveryMs: 1_000 }))
  return {
    url: ledger.url,
    identity: 'getNetwork',
    fund: (index) => ledger.fund(keypairOf(`relayer-${index}`).publicKey(), 100n * XLM),
    secret: (index) => keypairOf(`relayer-${index}`).secret(),
    network: (urls) => ({
      ...stellarConfig({ urls, passphrase: ledger.passphrase }).networks?.[0],
      average_blocktime_ms: 1_000,
    }),
    amounts: [10n * XLM, 20n * XLM],
  }
}

/** So many relayers: all but the first are filled by it when they run out of money. */
function relayersOn(setting: Setting, count: number, network: object) {
  const { network: name, type } = network as { readonly network: string; readonly type: string }
  const [below, to] = setting.amounts.map(String)
  const topUp = { from: 'relayer-0', below, to, max_per_day: to }
  const indices = Array.from({ length: count }, (_, index) => index)
  return {
    signers: indices.map((index) => plainSigner(`signer-${index}`, setting.secret(index))),
    relayers: indices.map((index) => ({
      id: `relayer-${index}`,
      name: `Relayer ${index}`,
      signer_id: `signer-${index}`,
      network: name,
      network_type: type,
      policies: index === 0 ? {} : { top_up: topUp },
    })),
  }
}

async function startResting(setting: Setting, count: number, endpoints: number) {
  for (let index = 0; index < count; index += 1) await setting.fund(index)
  const nodes: FaultyNode[] = []
  for (let index = 0; index < endpoints; index += 1) nodes.push(opened(await startFaultyNode(setting.url)))
  const network = setting.network(nodes.map(({ url }) => url))
  const service = opened(
    await startService({
      rpcUrls: [],
      networks: [network],
      ...relayersOn(setting, count, network),
      env: INTERVAL,
    }),
  )
  return { nodes, service }
}

/** The checks of the start, and the first ones after it, are over when so many have begun. */
const SETTLED = 2
const CHECKS = 3

/** As long as these checks take on a busy machine, in ms. */
const CHECKED_MS = 90_000

/**
 * Counts every call, whatever it asks, from the beginning of one check to that of another, so many checks
 * later.
 */
async function callsAtRest(setting: Setting, count: number, endpoints = 1): Promise<number> {
  const { nodes } = await startResting(setting, count, endpoints)
  let total = 0
  let began: number | undefined
  const at: number[] = []
  for (const node of nodes)
    node.tap = (call, reply) => {
      if (reply !== undefined) return
      total += 1
      // Several nodes, or several calls, tell one check who they are; the next check comes seconds later.
      if (call.method !== setting.identity) return
      if (began === undefined || performance.now() - began > 2_000) {
        began = performance.now()
        at.push(total)
      }
    }
  await until(
    async () => at.length,
    (checks) => checks > SETTLED + CHECKS,
    { timeoutMs: CHECKED_MS },
  )
  return (at[SETTLED + CHECKS] ?? 0) - (at[SETTLED] ?? 0)
}

test.each([
  ['EVM', onEvm, 1],
  ['EVM with three endpoints', onEvm, 3],
  ['Solana', onSolana, 1],
  ['Stellar', onStellar, 1],
] as const)(
  'relayers at rest on %s cause as many calls as a few do, however many there are',
  async (_, start, endpoints) => {
    const [few, many] = await Promise.all(
      [5, 60].map(async (count) => callsAtRest(await start(), count, endpoints)),
    )
    if (few === undefined || many === undefined) throw new Error('two were counted')
    expect(few).toBeGreaterThan(CHECKS)
    // The loops of balances and top-ups are not in step, so that one may come once more. With each relayer,
    // it would be twelve times as many.
    expect(many).toBeLessThan(few * 1.5)
  },
  240_000,
)

const RECEIVER = '0x000000000000000000000000000000000000dEaD'
type Relayer = Schemas['Relayer']

/** Another program signs with the key of a relayer, and its account has the same balance afterwards. */
async function signElsewhere(anvil: Anvil, index: number): Promise<void> {
  const account = privateKeyToAccount(evmKey(index))
  const chain = defineChain({
    id: 31_337,
    name: 'anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [anvil.url] } },
  })
  const wallet = createWalletClient({ account, chain, transport: http(anvil.url) })
  await wallet.sendTransaction({ to: RECEIVER, value: 1n })
  await until(
    () => anvil.rpc<string>('eth_getTransactionCount', [account.address, 'latest']),
    (count) => BigInt(count) === 1n,
  )
  await anvil.rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000'])
}

test('an account that wakes is asked for its nonce and its balance, and signs nothing when another program used it', async () => {
  const setting = await onEvm()
  const anvil = open[0] as unknown as Anvil
  const { nodes, service } = await startResting(setting, 60, 1)
  const [node] = nodes
  if (node === undefined) throw new Error('there is no node')
  const isReady = async () => (await relayerOf(service, 'relayer-59')).system_disabled === false
  await until(isReady, (ready) => ready)
  const asked: string[] = []
  const address = privateKeyToAddress(evmKey(59)).toLowerCase()
  await signElsewhere(anvil, 59)
  node.tap = ({ method, params }) => {
    if (
      JSON.stringify(params ?? '')
        .toLowerCase()
        .includes(address)
    )
      asked.push(method ?? '')
  }
  const { body } = await service.api<Transaction>('POST', '/relayers/relayer-59/transactions', {
    to: RECEIVER,
    value: 1,
    gas_limit: 21_000,
  })
  const disabled = await until(
    () => relayerOf(service, 'relayer-59'),
    ({ system_disabled }) => system_disabled === true,
  )
  expect(disabled.disabled_reason?.type).toBe('UnexplainedNonces')
  expect(asked).toContain('eth_getTransactionCount')
  expect(asked).toContain('eth_getBalance')
  expect(node.calls.get('eth_sendRawTransaction')).toBeUndefined()
  const { data } = (
    await service.api<Transaction>('GET', `/relayers/relayer-59/transactions/${body.data.id}`)
  ).body
  expect([data.status, data.nonce]).toEqual(['pending', undefined])
}, 120_000)

async function relayerOf(service: Service, id: string): Promise<Relayer> {
  return (await service.api<Relayer>('GET', `/relayers/${id}`)).body.data
}
