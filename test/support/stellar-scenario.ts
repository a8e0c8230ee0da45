import { createHash } from 'node:crypto'
import { Account, Asset, Keypair, Operation, TransactionBuilder } from '@stellar/stellar-sdk'
import { type LedgerOptions, startLedger, type TestLedger } from '../../simulators/stellar/start-ledger.ts'
import {
  plainSigner,
  type Service,
  type ServiceOptions,
  type Story,
  startService,
  storyOf,
  type Transaction,
} from './service.ts'

/** A key pair for tests, the same for the same name. */
export function keypairOf(name: string): Keypair {
  return Keypair.fromRawEd25519Seed(createHash('sha256').update(name).digest())
}

/** The account of relayer `main`. */
export const MAIN = keypairOf('main')

/** The receiver of payments. */
export const RECEIVER = keypairOf('receiver').publicKey()

/** A lumen, in stroops. */
export const XLM = 10_000_000n

/** A service with one relayer on a ledger that closes only when told, and the words that stories about it need. */
export interface StellarScenario extends Story {
  readonly ledger: TestLedger
  /** Closes ledgers until the transaction has this status. */
  closeUntil(id: string, status: Transaction['status']): Promise<Transaction>
  stop(): Promise<void>
}

export interface StellarScenarioOptions extends Omit<ServiceOptions, 'rpcUrls' | 'networks' | 'relayers'> {
  readonly ledger?: LedgerOptions
  /** More fields of the relayer, e.g. `channels`. */
  readonly relayer?: object
  /** Default: the ledger's own. */
  readonly urls?: (ledger: TestLedger) => readonly string[]
}

/** Starts both; `main` has 1000 lumens and the receiver 100. */
export async function startStellarScenario(options: StellarScenarioOptions = {}): Promise<StellarScenario> {
  const { ledger: ledgerOptions, relayer, urls, ...rest } = options
  const ledger = await startLedger({ closeEveryMs: 'manual', ...ledgerOptions })
  ledger.fund(MAIN.publicKey(), 1_000n * XLM)
  ledger.fund(RECEIVER, 100n * XLM)
  const service = await startService({
    ...stellarConfig({ urls: urls?.(ledger) ?? [ledger.url], passphrase: ledger.passphrase, relayer }),
    ...rest,
  })
  return stellarScenarioOf(ledger, service)
}

/** The configuration of relayer `main` on network `standalone`. */
export function stellarConfig(parts: {
  readonly urls: readonly string[]
  readonly passphrase: string
  readonly relayer?: object | undefined
}): Pick<ServiceOptions, 'rpcUrls' | 'networks' | 'relayers' | 'signers'> {
  return {
    rpcUrls: [],
    networks: [
      {
        type: 'stellar',
        network: 'standalone',
        passphrase: parts.passphrase,
        is_testnet: true,
        average_blocktime_ms: 200,
        rpc_urls: parts.urls,
      },
    ],
    signers: [plainSigner('main', MAIN.secret())],
    relayers: [
      {
        id: 'main',
        name: 'Main',
        network: 'standalone',
        network_type: 'stellar',
        signer_id: 'main',
        ...parts.relayer,
      },
    ],
  }
}

/** The same words for a service that was started otherwise. */
export function stellarScenarioOf(ledger: TestLedger, service: Service): StellarScenario {
  const story = storyOf(service)
  return {
    ...story,
    ledger,
    closeUntil: (id, status) => story.reach(id, status, () => ledger.close()),
    stop: async () => {
      await service.stop()
      await ledger.stop()
    },
  }
}

/** A payment of lumens, as a request. */
export function payment(stroops: bigint | number, more: object = {}): object {
  return {
    network: 'standalone',
    operations: [
      { type: 'payment', destination: RECEIVER, asset: { type: 'native' }, amount: String(stroops) },
    ],
    ...more,
  }
}

/** Hands an envelope to the network without the service; gives the status that the node answers. */
export async function submitTo(ledger: TestLedger, transaction: string): Promise<string | undefined> {
  const answer = await fetch(ledger.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: { transaction } }),
  })
  const { result } = (await answer.json()) as { result?: { status: string } }
  return result?.status
}

/** Lets another account pay a lumen to the receiver and bid this many stroops. */
export function payAs(ledger: TestLedger, payer: Keypair, fee: string): Promise<string | undefined> {
  const { sequence } = ledger.account(payer.publicKey()) ?? { sequence: 0n }
  const transaction = new TransactionBuilder(new Account(payer.publicKey(), String(sequence)), {
    fee,
    networkPassphrase: ledger.passphrase,
  })
    .addOperation(Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount: '1' }))
    .setTimebounds(0, (ledger.ledgers.at(-1)?.closeTime ?? 0) + 300)
    .build()
  transaction.sign(payer)
  return submitTo(ledger, transaction.toXDR())
}

/** A payment to the receiver that someone signs outside of the service. Everything but its signer has a default. */
export interface SignedPayment {
  readonly keypair: Keypair
  /** Its sequence number minus the next one of the account; 0 by default. */
  readonly ahead?: number
  /** How long it can be included, in seconds of the ledger; `never`: it has no time bounds. 600 by default. */
  readonly seconds?: number | 'never' | undefined
  /** In lumens; 1 by default. */
  readonly amount?: string
  readonly passphrase?: string
}

/** Signs a payment; `TransactionEnvelope`, XDR in base64. */
export function signedPayment(
  ledger: TestLedger,
  { keypair, ahead = 0, seconds = 600, amount = '1', passphrase = ledger.passphrase }: SignedPayment,
): string {
  const { sequence } = ledger.account(keypair.publicKey()) ?? { sequence: 0n }
  const source = new Account(keypair.publicKey(), String(sequence + BigInt(ahead)))
  const builder = new TransactionBuilder(source, { fee: '100', networkPassphrase: passphrase }).addOperation(
    Operation.payment({ destination: RECEIVER, asset: Asset.native(), amount }),
  )
  const transaction =
    seconds === 'never'
      ? builder.setTimeout(0).build()
      : builder.setTimebounds(0, (ledger.ledgers.at(-1)?.closeTime ?? 0) + seconds).build()
  transaction.sign(keypair)
  return transaction.toXDR()
}
