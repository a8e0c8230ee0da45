import { createRequire } from 'node:module'
import type { Secret } from '../../security/secret.ts'
import { libsecp256k1 } from '../libsecp256k1.ts'
import { loadPackage } from '../providers/load-package.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import { moduleProcess } from './module-process.ts'
import {
  describeKey,
  describeToken,
  type KeySelector,
  type ModuleResult,
  type TokenSelector,
} from './protocol.ts'

/** The way to a key pair of an HSM. */
export interface Pkcs11Config {
  /** The path of the library that the maker of the HSM gives. */
  readonly modulePath: string
  readonly token: TokenSelector
  readonly key: KeySelector
  /** The PIN of the token's user. */
  readonly pin: Secret
}

/**
 * Connects to a key pair that a PKCS#11 library knows.
 * @throws MissingPackageError
 */
export async function connectPkcs11({ modulePath, token, key, pin }: Pkcs11Config): Promise<RemoteKey> {
  await loadPackage('pkcs11js', async () => createRequire(import.meta.url).resolve('pkcs11js'))
  const location = { token, key, pin: pin.reveal() }
  const { ask } = moduleProcess(modulePath)
  return {
    name: `PKCS#11 key ${describeKey(key)} in ${describeToken(token)}`,
    publicKeys: async (signal) => readPoint(await ask({ location }, signal)),
    sign: async ({ curve, payload, signal }) => {
      const result = await ask({ location, payload }, signal)
      if (result.curve === curve) return result.bytes
      throw new RemoteFault('refused', `is of the curve ${result.curve} now`)
    },
  }
}

const POINT_BYTES = { secp256k1: 65, ed25519: 32 } as const

/** Tokens write CKA_EC_POINT as it is, as an OCTET STRING (two bytes more) or as a BIT STRING (three bytes more). */
const WRAPPINGS = [0, 2, 3]

/** @throws RemoteFault for bytes that are no point */
function readPoint({ curve, bytes }: ModuleResult): PublicKeys {
  const length = POINT_BYTES[curve]
  const point = Uint8Array.from(bytes.subarray(-length))
  const isPoint = curve === 'ed25519' || libsecp256k1().publicKeyVerify(point)
  if (WRAPPINGS.includes(bytes.length - length) && isPoint) return { [curve]: point }
  throw new RemoteFault('unavailable', 'gave a public key that cannot be read')
}
