import { Keypair } from '@stellar/stellar-sdk'
import { privateKeyToAddress } from 'viem/accounts'
import type { HttpClient } from '../../../src/lib/http/http-client.ts'
import { systemClock } from '../../../src/lib/time.ts'
import { solanaAddress } from '../../../src/signers/ed25519.ts'
import type { Key } from '../../../src/signers/key.ts'
import { connectSigner } from '../../../src/signers/providers/connect.ts'
import { providerOf, type SignerConfig } from '../../../src/signers/providers/registry.ts'
import type { CallLimits } from '../../../src/signers/remote/call.ts'
import { KEY_SERVICES } from '../../support/key-services/connections.ts'
import type { Accounts } from './conformance.ts'

/** A secret that is a private key of secp256k1 and a seed of ed25519. */
export const SECRET = '7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6'

/** The accounts of the secret, by viem and the Stellar SDK. */
export const ACCOUNTS = {
  evm: privateKeyToAddress(`0x${SECRET}`),
  ...ed25519Accounts(SECRET),
} satisfies Accounts

/** The accounts of an ed25519 seed. */
export function ed25519Accounts(seed: string) {
  const keypair = Keypair.fromRawEd25519Seed(Buffer.from(seed, 'hex'))
  return { stellar: keypair.publicKey(), solana: solanaAddress(new Uint8Array(keypair.rawPublicKey())) }
}

/** The machine of the tests can be slow. */
export const PATIENT: CallLimits = { timeoutMs: 10_000, concurrency: 50 }

interface OpenOptions extends CallLimits {
  /** Asks the service of the key. Default: the service at its own url. */
  readonly http?: HttpClient
}

/** Opens a signer as the service does. The time-out holds from the first signature on. */
export async function openSigner(config: SignerConfig, options: OpenOptions = PATIENT): Promise<Key> {
  const provider = providerOf(config)
  if (provider.kind === 'local') {
    const key = await provider.open(config.id, config)
    if (typeof key === 'string') throw new Error(key)
    return key
  }
  const { http = KEY_SERVICES.configured.http, ...limits } = options
  const connect = (own: CallLimits) => connectSigner(config, { ...own, http, clock: systemClock })
  const publicKeys = await (await connect(PATIENT)).publicKeys()
  return (await connect(limits)).keyOf(publicKeys)
}
