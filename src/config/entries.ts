import { ALERT_KINDS } from '../alerts/alert.ts'
import { type FieldType, flag, httpUrl, id, oneOf, openReader, type Reader, text } from '../lib/fields.ts'
import { suggest } from '../lib/suggest.ts'
import {
  type NamedTransactions,
  NOTIFICATION_TYPES,
  type NotificationConfig,
} from '../notifications/notification.ts'
import { DEFAULT_URLS, hasIntegrationKey, MAILTO, unfitField } from '../notifications/receivers/check.ts'
import { recipientsOf } from '../notifications/receivers/mail.ts'
import type { RelayerConfig } from '../relayers/relayer.ts'
import { readRelayer } from '../relayers/relayer-document.ts'
import { createSecret } from '../security/secrets.ts'
import { createObjectReaders, type SignerFields } from '../signers/providers/provider.ts'
import {
  isSignerType,
  readSignerConfig,
  SIGNER_TYPES,
  type SignerConfig,
} from '../signers/providers/registry.ts'
import { readSecret, readSecretField, resolveFile, type Sources, withUrls } from './sources.ts'

const BLANK = createSecret('')

/** Reads the list `signers`: `{ id, type, config }`. */
export function readSigners(file: Reader, sources: Sources, problems: string[]): SignerConfig[] {
  return file.items('signers').flatMap(({ value, path }) => {
    const reader = openReader(value, path, problems)
    if (!reader) return []
    const signer = readSigner(reader, sources)
    reader.finish()
    return [signer]
  })
}

function readSigner(reader: Reader, sources: Sources): SignerConfig {
  const signerId = reader.get('id', id)
  const type = reader.get('type', text)
  const config = reader.object('config')
  // The signer has a name, so relayers that refer to it must not add the problem that it does not exist.
  const unusable: SignerConfig = { id: signerId, type: 'plain', key: BLANK }
  if (type === '') return unusable
  if (!isSignerType(type)) {
    reader.problem(
      `has the type "${type}", which is not known${suggest(type, SIGNER_TYPES)}; use one of ${SIGNER_TYPES.join(', ')}`,
    )
    return unusable
  }
  if (!config) {
    if (reader.raw('config') === undefined) reader.problem('has no "config"')
    return unusable
  }
  const signer = readSignerConfig({ id: signerId, type }, fieldsOf(config, sources))
  config.finish()
  return signer
}

/**
 * Secrets of the file are references to their sources. Other fields may be, such as the ids of an account
 * that differs between deployments.
 */
function fieldsOf(config: Reader, sources: Sources): SignerFields {
  const secret = (key: string) => readSecretField(config, key, sources) ?? BLANK
  const isReference = (key: string) => {
    const value = config.raw(key)
    return typeof value === 'object' && value !== null && 'type' in value && 'value' in value
  }
  const referred = <T>(key: string, type: FieldType<T>): T => {
    const text = readSecret(config.object(key), sources)?.reveal()
    const value = text === undefined ? type.blank : type.read(text)
    if (value === undefined) config.problem(`must refer to ${type.expected}`, key)
    return value ?? type.blank
  }
  return {
    get: (key, type) => (isReference(key) ? referred(key, type) : config.get(key, type)),
    find: (key, type) => (isReference(key) ? referred(key, type) : config.find(key, type)),
    ...createObjectReaders(config, (inner) => fieldsOf(inner, sources)),
    path: (key) => {
      const path = config.get(key, text)
      return path && resolveFile(path, sources)
    },
    findPath: (key) => {
      const path = config.find(key, text)
      return path && resolveFile(path, sources)
    },
    secret: (key) => {
      if (config.raw(key) === undefined)
        config.problem(`has no "${key}": { "type": "env" | "file" | "plain", "value": … }`)
      return secret(key)
    },
    findSecret: (key) => (config.raw(key) === undefined ? undefined : secret(key)),
  }
}

/** The relayers of the file, with the settings that only the file can decide. */
interface FileRelayers {
  readonly relayers: readonly RelayerConfig[]
  /** The ids of the relayers whose policies callers of the API may relax. */
  readonly apiMayRelax: readonly string[]
}

/** The field of an entry that no request has. */
const MAY_RELAX = 'api_may_relax'

/** Reads the list `relayers`. */
export function readRelayers(file: Reader, sources: Sources, problems: string[]): FileRelayers {
  if (file.raw('relayers') === undefined) file.problem('relayers is missing: it must be a list')
  const entries = file.items('relayers').flatMap(({ value: written, path }) => {
    const value = withUrls(written, { path, sources, problems })
    const relayer = readRelayer({ value: without(value, MAY_RELAX), path }, problems)
    if (relayer === undefined) return []
    return [{ relayer, mayRelax: openReader(value, path, problems)?.find(MAY_RELAX, flag) ?? false }]
  })
  return {
    relayers: entries.map(({ relayer }) => relayer),
    apiMayRelax: entries.flatMap(({ relayer, mayRelax }) => (mayRelax ? [relayer.id] : [])),
  }
}

function without(value: unknown, field: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))
}

/** In characters, as in the API: with a shorter key, webhooks can be forged. */
const MIN_SIGNING_KEY = 32

/** The url of a notification by e-mail. The operator may choose any address. */
const mailto: FieldType<string> = {
  expected: MAILTO,
  read: (value) => (typeof value === 'string' && recipientsOf(value) ? value : undefined),
  blank: '',
}

/** The name of transactions, as in the API. */
const referenceName: FieldType<string> = {
  expected: '1 to 128 visible ASCII characters',
  read: (value) => (typeof value === 'string' && /^[!-~]{1,128}$/.test(value) ? value : undefined),
  blank: '',
}

/** The id of an API key: one of the API, `root`, or that of a plugin. */
const keyId: FieldType<string> = {
  expected: 'the id of an API key, such as "shop", "root" or "plugin.x402"',
  read: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
  blank: '',
}

function readTransactions(notification: Reader): NamedTransactions | undefined {
  const reader = notification.object('transactions')
  if (reader === undefined) return undefined
  const transactions = {
    reference: reader.get('reference', referenceName),
    requestedBy: reader.get('requested_by', keyId),
  }
  reader.finish()
  return transactions
}

/**
 * Reads the list `notifications`, of
 * `{ id, type, url, signing_key?, integration_key?, alerts?, transactions? }`.
 */
export function readNotifications(file: Reader, sources: Sources, problems: string[]): NotificationConfig[] {
  return file.items('notifications').flatMap(({ value, path }) => {
    const reader = openReader(withUrls(value, { path, sources, problems }), path, problems)
    if (!reader) return []
    const signingKey = readSecretField(reader, 'signing_key', sources)
    if (signingKey && signingKey.reveal().length < MIN_SIGNING_KEY)
      reader.problem(
        `must have at least ${MIN_SIGNING_KEY} characters, or its webhooks can be forged`,
        'signing_key',
      )
    const integrationKey = readSecretField(reader, 'integration_key', sources)
    const type = reader.get('type', oneOf(...NOTIFICATION_TYPES))
    const alerts = reader.raw('alerts') == null ? undefined : reader.list('alerts', oneOf(...ALERT_KINDS))
    const transactions = readTransactions(reader)
    const unfit = unfitField({
      type,
      signingKey: signingKey?.reveal(),
      integrationKey: integrationKey?.reveal(),
      alerts,
      transactions,
    })
    if (unfit !== undefined) reader.problem(`must be ${unfit.expected}`, unfit.field)
    if (hasIntegrationKey(type) && reader.raw('integration_key') === undefined)
      reader.problem(
        `is missing: it must be the key that ${type} shows for its integration`,
        'integration_key',
      )
    const key = signingKey ?? integrationKey
    const urlType = type === 'email' ? mailto : httpUrl
    const notification: NotificationConfig = {
      id: reader.get('id', id),
      type,
      url: (reader.raw('url') == null && DEFAULT_URLS[type]) || reader.get('url', urlType),
      ...(alerts && { alerts }),
      ...(transactions && { transactions }),
      ...(key && { signingKey: key }),
    }
    reader.finish()
    return [notification]
  })
}
