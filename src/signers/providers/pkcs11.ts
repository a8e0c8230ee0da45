import { type FieldType, text, whole } from '../../lib/fields/field-types.ts'
import { connectPkcs11, type Pkcs11Config } from '../pkcs11/pkcs11-key.ts'
import type { KeySelector, TokenSelector } from '../pkcs11/protocol.ts'
import type { RemoteProvider, SignerFields } from './provider.ts'

/** A key pair of an HSM. The configuration file alone may name it: a caller must not load a library into this machine. */
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
