import { randomBytes } from 'node:crypto'
import { address } from '@solana/kit'
import { startSolana, type TestSolana } from '../../simulators/solana/start-solana.ts'
import { plantMint } from '../../simulators/solana/tokens.ts'
import { startLedger, type TestLedger } from '../../simulators/stellar/start-ledger.ts'
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts'
import { DEV_ADDRESSES, DEV_KEYS, type Service, type ServiceOptions, startService } from './service.ts'
import { addressOf, MAIN as SOLANA_ACCOUNT, seedOf, solanaConfig } from './solana-scenario.ts'
import { keypairOf, MAIN as STELLAR_KEY, stellarConfig, XLM } from './stellar-scenario.ts'

/** A token in which fees are quoted on Solana. */
export const FEE_MINT = address('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU')

/** A service with relayers `main` and `other` on anvil, `stellar` and `solana`, and the chains behind it. */
export interface EveryKind {
  readonly service: Service
  readonly anvil: Anvil
  readonly ledger: TestLedger
  readonly solana: TestSolana
  stop(): Promise<void>
}

/** More than any request of a test needs, in lumens' and SOL's smallest units. */
const PLENTY = 1_000_000_000_000_000n

interface EveryKindOptions extends Omit<ServiceOptions, 'rpcUrls'> {
  readonly anvil?: AnvilOptions
}

/** Starts a chain of each kind and the service; every account has more than it can spend. */
export async function startEveryKind(options: EveryKindOptions = {}): Promise<EveryKind> {
  const { anvil: anvilOptions, env, ...rest } = options
  const anvil = await startAnvil(anvilOptions)
  for (const address of DEV_ADDRESSES)
    await anvil.rpc('anvil_setBalance', [address, `0x${(2n ** 250n).toString(16)}`])
  const ledger = await startLedger()
  ledger.fund(STELLAR_KEY.publicKey(), PLENTY)
  const solana = await startSolana()
  solana.airdrop(SOLANA_ACCOUNT, PLENTY)
  plantMint(solana, FEE_MINT, { decimals: 6 })
  // The users of the contract's examples of sponsored transactions.
  for (const name of ['sponsored user', 'receiver']) solana.airdrop(addressOf(name), PLENTY)
  ledger.fund(keypairOf('sponsored user').publicKey(), XLM)
  const service = await startService({
    rpcUrls: [anvil.url],
    ...recordsOf(ledger, solana),
    env: {
      STORAGE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      METRICS_ENABLED: 'true',
      METRICS_PORT: '0',
      ...env,
    },
    ...rest,
  })
  return {
    service,
    anvil,
    ledger,
    solana,
    stop: async () => {
      await service.stop()
      await anvil.stop()
      await ledger.stop()
      await solana.stop()
    },
  }
}

function recordsOf(
  ledger: TestLedger,
  solana: TestSolana,
): Pick<ServiceOptions, 'networks' | 'relayers' | 'signers'> {
  const onStellar = stellarConfig({
    urls: [ledger.url],
    passphrase: ledger.passphrase,
    relayer: {
      id: 'stellar',
      signer_id: 'stellar',
      policies: { fee_payment_strategy: 'relayer', allowed_tokens: [{ asset: 'native' }] },
    },
  })
  const onSolana = solanaConfig(solana, {
    policies: {
      fee_payment_strategy: 'relayer',
      allowed_tokens: [{ mint: FEE_MINT, price: { sources: [{ type: 'fixed', price: '150' }] } }],
    },
  })
  const onAnvil = { network: 'anvil', network_type: 'evm' }
  return {
    networks: [...(onStellar.networks ?? []), ...(onSolana.networks ?? [])],
    relayers: [
      { id: 'main', name: 'Main', signer_id: 'dev-0', notification_id: 'ops', ...onAnvil },
      { id: 'other', name: 'Other', signer_id: 'dev-1', ...onAnvil },
      ...(onStellar.relayers ?? []),
      ...(onSolana.relayers ?? []).map((relayer) => ({ ...relayer, id: 'solana', signer_id: 'solana' })),
    ],
    signers: [
      ...DEV_KEYS.map((key, index) => plain(`dev-${index}`, key)),
      plain('stellar', STELLAR_KEY.secret()),
      plain('solana', Buffer.from(seedOf('main')).toString('hex')),
      // For a relayer that a caller creates.
      plain('spare', Buffer.from(seedOf('spare')).toString('hex')),
    ],
  }
}

function plain(id: string, value: string) {
  return { id, type: 'plain', config: { key: { type: 'plain', value } } }
}
