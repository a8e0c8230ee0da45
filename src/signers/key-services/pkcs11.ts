import { createRequire } from 'node:module'
import { type FieldType, text, whole } from '../../lib/fields.ts'
import type { Secret } from '../../security/secrets.ts'
import { moduleProcess } from '../pkcs11/module-process.ts'
import {
  describeKey,
  describeToken,
  type KeySelector,
  type ModuleResult,
  type TokenSelector,
} from '../pkcs11/protocol.ts'
import { loadPackage, type RemoteProvider, type SignerFields } from '../providers/provider.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import { libsecp256k1 } from '../secp256k1.ts'

/**
 * A key pair in an HSM. Only the configuration file may name it: a caller must not load libraries on this
 * machine.
 */
export const pkcs11: RemoteProvider<Pkcs11Config> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({
    modulePath: fields.path('module_path'),
    token: readToken(fields),
    key: readKey(fields),
    pin: fields.secret('pin'),
  }),
  show: ({ token, key }) => ({
    ...('label' in token ? { token_label: token.label } : { slot: token.slot }),
    ...('label' in key ? { key_label: key.label } : { key_id: key.id }),
  }),
  connect: connectPkcs11,
}

/** Ids are bytes; tools write them as hex digits. */
const hexBytes: FieldType<string> = {
  expected: 'an even number of hex digits, such as 01',
  read: (value) =>
    typeof value === 'string' && /^([0-9a-fA-F]{2}){1,64}$/.test(value) ? value.toLowerCase() : undefined,
  blank: '',
}

function readToken(fields: SignerFields): TokenSelector {
  const slot = fields.find('slot', whole(0))
  if (slot === undefined) return { label: fields.get('token_label', orElse(text, 'slot')) }
  fields.find('token_label', absentBeside('slot'))
  return { slot }
}

function readKey(fields: SignerFields): KeySelector {
  const id = fields.find('key_id', hexBytes)
  if (id === undefined) return { label: fields.get('key_label', orElse(text, 'key_id')) }
  fields.find('key_label', absentBeside('key_id'))
  return { id }
}

/** Names the other field that would do, for the message. */
function orElse<T>(type: FieldType<T>, other: string): FieldType<T> {
  return { ...type, expected: `${type.expected}, unless there is a "${other}"` }
}

function absentBeside(other: string): FieldType<undefined> {
  return { expected: `absent, because there is a "${other}"`, read: () => undefined, blank: undefined }
}

/** The way to a key pair of an HSM. */
interface Pkcs11Config {
  /** The path of the HSM vendor's library. */
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
async function connectPkcs11({ modulePath, token, key, pin }: Pkcs11Config): Promise<RemoteKey> {
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

/**
 * Tokens write CKA_EC_POINT as it is, as an OCTET STRING (two bytes more) or as a BIT STRING (three bytes
 * more).
 */
const WRAPPINGS = [0, 2, 3]

/** @throws RemoteFault for bytes that are no point */
function readPoint({ curve, bytes }: ModuleResult): PublicKeys {
  const length = POINT_BYTES[curve]
  const point = Uint8Array.from(bytes.subarray(-length))
  const isPoint = curve === 'ed25519' || libsecp256k1().publicKeyVerify(point)
  if (WRAPPINGS.includes(bytes.length - length) && isPoint) return { [curve]: point }
  throw new RemoteFault('unavailable', 'returned an unreadable public key')
}
