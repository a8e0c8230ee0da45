import { startSolana } from '../../../simulators/solana/start-solana.ts'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { isSuccess } from '../../../simulators/stellar/transaction/results.ts'
import { type Anvil, anvilNetwork, ON_ANVIL, startAnvil } from '../../../test/support/anvil.ts'
import type { Random } from '../../../test/support/random.ts'
import {
  DEV_KEYS,
  RECEIVER as EVM_RECEIVER,
  plainSigner,
  type Service,
  startService,
  type Transaction,
} from '../../../test/support/service.ts'
import {
  SOL,
  MAIN as SOLANA_ACCOUNT,
  RECEIVER as SOLANA_RECEIVER,
  seedOf,
  solanaConfig,
  transfer,
} from '../../../test/support/solana-scenario.ts'
import {
  payment,
  MAIN as STELLAR_KEY,
  RECEIVER as STELLAR_RECEIVER,
  stellarConfig,
  XLM,
} from '../../../test/support/stellar-scenario.ts'
import { type HostileEndpoint, startHostileEndpoint } from './hostile-endpoint.ts'

/** The fate of a hash on the real chain. */
export type Fate = 'succeeded' | 'reverted' | 'absent'

/** Attempts that execute what the caller asked for. The service also speeds up and signs again what cancels, and has transactions of its own. */
const EXECUTING: readonly string[] = ['send', 'replace']
const PERHAPS_EXECUTING: readonly string[] = [...EXECUTING, 'speed_up', 're_sign', 'gap_filler', 'setup']

/** Says how a final record contradicts the chain; undefined if it does not. */
export async function contradiction(
  record: Transaction,
  fateOf: (hash: string) => Promise<Fate>,
): Promise<string | undefined> {
  const fates = await Promise.all(
    record.attempts.map(async ({ kind, hash }) => ({ kind, hash, fate: await fateOf(String(hash)) })),
  )
  const kinds = record.status === 'confirmed' ? PERHAPS_EXECUTING : EXECUTING
  const executed = fates.filter(({ kind, fate }) => kinds.includes(kind) && fate === 'succeeded')
  const at = `${record.network_type} ${record.id} is ${record.status} (${record.status_reason ?? ''})`
  if (record.status === 'confirmed')
    return executed.length === 1 ? undefined : `${at}, and ${executed.length} attempts succeeded`
  if (['failed', 'canceled', 'expired'].includes(record.status))
    return executed.length === 0 ? undefined : `${at}, and ${executed[0]?.hash} succeeded`
  return undefined
}

/** A relayer on one of the chains. */
export interface Target {
  readonly relayer: string
  /** A transaction; `amount` tells one from another. */
  body(amount: number): object
  fateOf(hash: string): Promise<Fate>
  /** False where no honest endpoint could tell the service the truth. */
  readonly hasWitness: boolean
}

/** A service whose endpoints are hostile, most of the time, beside honest ones that hardly get a question. */
export interface ThreeChains {
  readonly service: Service
  readonly endpoints: readonly HostileEndpoint[]
  readonly targets: readonly Target[]
  stop(): Promise<void>
}

const PLENTY = 1_000_000n

/** Starts the chains, an endpoint in front of each, and the service. */
export async function startThreeChains(random: Random): Promise<ThreeChains> {
  const anvil = await startAnvil({ args: ['--block-time', '1'] })
  const ledger = await startLedger({ closeEveryMs: 500 })
  ledger.fund(STELLAR_KEY.publicKey(), PLENTY * XLM)
  ledger.fund(STELLAR_RECEIVER, XLM * 100n)
  const solana = await startSolana({ slotMs: 50 })
  solana.airdrop(SOLANA_ACCOUNT, PLENTY * SOL)
  solana.airdrop(SOLANA_RECEIVER, SOL)
  const nodes = [anvil.url, ledger.url, solana.url, anvil.url]
  // Beside the first three is an honest endpoint, which would get all questions if they told nonsense.
  const endpoints = await Promise.all(
    nodes.map((url, index) =>
      startHostileEndpoint({ target: url, random: random.fork(`endpoint ${index}`), isPlausible: index < 3 }),
    ),
  )
  const [evm, stellar, onSolana, alone] = endpoints.map(({ url }, index) => beside(url, nodes[index] ?? ''))
  const stellarParts = stellarConfig({
    urls: [],
    passphrase: ledger.passphrase,
    relayer: { id: 'stellar', signer_id: 'stellar' },
  })
  const solanaParts = solanaConfig(solana)
  const withUrls = (network: object | undefined, rpc_urls: unknown) => ({ ...network, rpc_urls })
  const service = await startService({
    rpcUrls: [],
    env: { RPC_TIMEOUT_MS: '1000', RELAYER_HEALTH_INTERVAL_SECONDS: '5' },
    networks: [
      withUrls(anvilNetwork([]), evm),
      withUrls(anvilNetwork([], { network: 'alone' }), alone?.slice(0, 1)),
      withUrls(stellarParts.networks?.[0], stellar),
      withUrls(solanaParts.networks?.[0], onSolana),
    ],
    signers: [
      ...DEV_KEYS.map((key, index) => plainSigner(`dev-${index}`, key)),
      plainSigner('stellar', STELLAR_KEY.secret()),
      plainSigner('solana', Buffer.from(seedOf('main')).toString('hex')),
    ],
    relayers: [
      { id: 'evm', name: 'EVM', signer_id: 'dev-0', ...ON_ANVIL },
      { id: 'alone', name: 'Alone', signer_id: 'dev-1', ...ON_ANVIL, network: 'alone' },
      ...(stellarParts.relayers ?? []),
      ...(solanaParts.relayers ?? []).map((one) => ({ ...one, id: 'solana', signer_id: 'solana' })),
    ],
  })
  const onAnvil = { body: (value: number) => ({ to: EVM_RECEIVER, value }), fateOf: evmFate(anvil) }
  return {
    service,
    endpoints,
    targets: [
      { relayer: 'evm', hasWitness: true, ...onAnvil },
      { relayer: 'alone', hasWitness: false, ...onAnvil },
      {
        relayer: 'stellar',
        hasWitness: true,
        body: (amount) => payment(amount),
        fateOf: async (hash) => {
          const applied = ledger.included(hash)
          if (applied === undefined) return 'absent'
          return isSuccess(applied.frameResult) ? 'succeeded' : 'reverted'
        },
      },
      {
        relayer: 'solana',
        hasWitness: true,
        body: (amount) => transfer(BigInt(amount)),
        fateOf: async (hash) => {
          const applied = solana.included(hash)
          if (applied === undefined) return 'absent'
          return applied.err === null ? 'succeeded' : 'reverted'
        },
      },
    ],
    async stop() {
      await service.stop()
      await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
      await solana.stop()
      await ledger.stop()
      await anvil.stop()
    },
  }
}

/** Endpoints get their shares by weight; the honest one is asked when the other one rests, and for second opinions. */
function beside(hostile: string, honest: string) {
  return [
    { url: hostile, weight: 100 },
    { url: honest, weight: 1 },
  ]
}

function evmFate(anvil: Anvil) {
  return async (hash: string): Promise<Fate> => {
    const receipt = await anvil.rpc<{ status: string } | null>('eth_getTransactionReceipt', [hash])
    if (receipt === null) return 'absent'
    return receipt.status === '0x1' ? 'succeeded' : 'reverted'
  }
}
