import { createHash } from 'node:crypto'
import { type SolanaOptions, startSolana, type TestSolana } from '../../simulators/solana/start-solana.ts'
import { createEd25519Signer, solanaAddress } from '../../src/signers/ed25519.ts'
import {
  plainSigner,
  type Service,
  type ServiceOptions,
  type Story,
  startService,
  storyOf,
  type Transaction,
} from './service.ts'

/** The seed of a key for tests, the same for the same name. */
export function seedOf(name: string): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(name).digest())
}

/** The address of such a key. */
export function addressOf(name: string): string {
  return solanaAddress(createEd25519Signer(name, seedOf(name)).publicKey)
}

/** The account of relayer `main`. */
export const MAIN = addressOf('main')

/** The receiver of payments. */
export const RECEIVER = addressOf('receiver')

/** A SOL, in lamports. */
export const SOL = 1_000_000_000n

/** A service with one relayer on a network that makes blocks only when told, and the words that stories about it need. */
export interface SolanaScenario extends Story {
  readonly solana: TestSolana
  /** Makes blocks until the transaction has this status. */
  tickUntil(id: string, status: Transaction['status']): Promise<Transaction>
  stop(): Promise<void>
}

export interface SolanaScenarioOptions extends Omit<ServiceOptions, 'rpcUrls' | 'networks' | 'relayers'> {
  readonly solana?: SolanaOptions
  readonly policies?: object
  /** Default: the network's own. */
  readonly urls?: (solana: TestSolana) => readonly string[]
}

/** Starts both; `main` has 10 SOL and the receiver 1. */
export async function startSolanaScenario(options: SolanaScenarioOptions = {}): Promise<SolanaScenario> {
  const { solana: solanaOptions, policies, urls, ...rest } = options
  const solana = await startSolana({ slotMs: 'manual', ...solanaOptions })
  solana.airdrop(MAIN, 10n * SOL)
  solana.airdrop(RECEIVER, SOL)
  const service = await startService({ ...solanaConfig(solana, { urls: urls?.(solana), policies }), ...rest })
  return solanaScenarioOf(solana, service)
}

/** The configuration of relayer `main` on network `local`. */
export function solanaConfig(
  { url, genesisHash }: TestSolana,
  {
    urls = [url],
    policies = {},
  }: { urls?: readonly string[] | undefined; policies?: object | undefined } = {},
): Pick<ServiceOptions, 'rpcUrls' | 'networks' | 'relayers' | 'signers'> {
  return {
    rpcUrls: [],
    networks: [
      {
        type: 'solana',
        network: 'local',
        genesis_hash: genesisHash,
        is_testnet: true,
        average_blocktime_ms: 20,
        rpc_urls: urls,
      },
    ],
    signers: [plainSigner('main', Buffer.from(seedOf('main')).toString('hex'))],
    relayers: [
      { id: 'main', name: 'Main', network: 'local', network_type: 'solana', signer_id: 'main', policies },
    ],
  }
}

/** The same words for a service that was started otherwise. */
export function solanaScenarioOf(solana: TestSolana, service: Service): SolanaScenario {
  const story = storyOf(service)
  return {
    ...story,
    solana,
    tickUntil: (id, status) => story.reach(id, status, () => solana.tick()),
    stop: async () => {
      await service.stop()
      await solana.stop()
    },
  }
}

/** A transfer of lamports by relayer `main` to the receiver, as a request. */
export function transfer(lamports: bigint, more: object = {}): object {
  return { ...transferBetween(MAIN, RECEIVER, lamports), ...more }
}

/** A transfer of lamports, as a request of the account that pays. */
export function transferBetween(from: string, to: string, lamports: bigint): object {
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2)
  data.writeBigUInt64LE(lamports, 4)
  return {
    instructions: [
      {
        program_id: '11111111111111111111111111111111',
        accounts: [
          { pubkey: from, is_signer: true, is_writable: true },
          { pubkey: to, is_signer: false, is_writable: true },
        ],
        data: data.toString('base64'),
      },
    ],
  }
}

/** Hands a transaction, in base64, to the network itself, past all faulty nodes. */
export async function broadcastDirectly({ url }: TestSolana, transaction: string): Promise<void> {
  const settings = { encoding: 'base64', skipPreflight: true, maxRetries: 0 }
  const call = { jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: [transaction, settings] }
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(call),
  })
  const { result } = (await answer.json()) as { result?: unknown }
  if (typeof result !== 'string') throw new Error('the network did not take what it was offered')
}
