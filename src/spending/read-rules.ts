import { hasWrongChecksum } from '../lib/evm-address.ts'
import { type FieldType, flag, oneOf, openReader, type Reader, text, u128, whole } from '../lib/fields.ts'
import { omitUndefined } from '../lib/object.ts'
import {
  type ApprovalRule,
  type ApprovalThreshold,
  PERIODS,
  type SpendingHours,
  type SpendingLimit,
  type SpendingRules,
  WEEKDAYS,
  type Weekday,
} from './rules.ts'

/** The most limits of one spender: each costs time at every request. */
const MAX_LIMITS = 20
const MAX_ITEMS = 1_000

/** The contract has the same bounds as these. */
const MAX_COUNT = 1_000_000_000
const EXPIRY_SECONDS = { min: 60, max: 2_592_000 }

/** A rule with a mistyped address would permit what it should forbid, or the other way round. Its network is not known here. */
function isMistyped(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text) && hasWrongChecksum(text)
}

const CHECKSUM = ' (on EVM in one letter case, or with the right checksum of EIP-55)'

/** An address or the name of an asset. EVM addresses get lower-case letters, because rules compare them. */
const name: FieldType<string> = {
  expected: `an address${CHECKSUM}, or the name of an asset`,
  read: (value) => {
    if (typeof value !== 'string' || !/^[!-~]{1,100}$/.test(value) || isMistyped(value)) return undefined
    return /^0x[0-9a-fA-F]+$/.test(value) ? value.toLowerCase() : value
  },
  blank: '',
}

/** The forms of assets. A limit for an asset that does not exist would limit nothing, so its name must have one of them. */
const ASSET =
  /^(native|0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}|[A-Za-z0-9]{1,12}:G[A-Z2-7]{55}|C[A-Z2-7]{55})$/

const asset: FieldType<string> = {
  expected: `"native", the address of a token, mint or contract${CHECKSUM}, or CODE:ISSUER`,
  read: (value) => {
    if (typeof value !== 'string' || !ASSET.test(value) || isMistyped(value)) return undefined
    return value.startsWith('0x') ? value.toLowerCase() : value
  },
  blank: 'native',
}

const network: FieldType<string> = {
  expected: 'type and name of a network, joined by a colon, such as "evm:sepolia"',
  read: (value) =>
    typeof value === 'string' && /^(evm|stellar|solana):[!-~]{1,100}$/.test(value) ? value : undefined,
  blank: '',
}

const selector: FieldType<string> = {
  expected: '0x and 8 hex digits',
  read: (value) =>
    typeof value === 'string' && /^0x[0-9a-fA-F]{8}$/.test(value) ? value.toLowerCase() : undefined,
  blank: '',
}

const timeOfDay: FieldType<string> = {
  expected: 'a time of day in UTC such as "08:00"',
  read: (value) =>
    typeof value === 'string' && /^([01][0-9]|2[0-3]):[0-5][0-9]$/.test(value) ? value : undefined,
  blank: '00:00',
}

/** Reads rules from a configuration file or a request. The reader collects the problems. */
export function readRules(reader: Reader): SpendingRules {
  const rules = omitUndefined({
    receivers: listOf(reader, 'receivers', name),
    contracts: listOf(reader, 'contracts', name),
    selectors: listOf(reader, 'selectors', selector),
    operations: listOf(reader, 'operations', text),
    assets: listOf(reader, 'assets', name),
    limits: readLimits(reader, 'limits'),
    user_limits: readLimits(reader, 'user_limits'),
    require_approval: readApproval(reader),
    hours: readHours(reader),
    idempotency: reader.find('idempotency', oneOf('required', 'optional')),
    signatures: reader.find('signatures', oneOf('readable', 'any')),
  })
  reader.finish()
  return rules
}

function listOf(reader: Reader, field: string, type: FieldType<string>): string[] | undefined {
  if (reader.raw(field) === undefined) return undefined
  const list = reader.list(field, type)
  if (list.length > MAX_ITEMS) reader.problem(`has more than ${MAX_ITEMS} items`, field)
  return [...new Set(list)]
}

function readLimits(reader: Reader, field: 'limits' | 'user_limits'): SpendingLimit[] | undefined {
  const items = reader.objects(field)
  if (items === undefined) return undefined
  if (items.length > MAX_LIMITS) reader.problem(`has more than ${MAX_LIMITS} items`, field)
  return items.map(readLimit)
}

function readLimit(reader: Reader): SpendingLimit {
  const limit = omitUndefined({
    per: reader.get('per', oneOf('transaction', ...PERIODS)),
    asset: reader.find('asset', asset) ?? 'native',
    network: reader.find('network', network),
    value: reader.find('value', u128),
    fees: reader.find('fees', u128),
    count: reader.find('count', whole(0, MAX_COUNT)),
  })
  reader.finish()
  if (limit.value === undefined && limit.fees === undefined && limit.count === undefined)
    reader.problem('limits nothing: it needs value, fees or count')
  if (limit.per === 'transaction' && limit.count !== undefined)
    reader.problem('has no meaning for a single transaction', 'count')
  if (limit.asset !== 'native' && (limit.fees !== undefined || limit.count !== undefined))
    reader.problem('only value can be limited for an asset that is not native')
  return limit
}

function readApproval(reader: Reader): ApprovalRule | undefined {
  const approval = reader.object('require_approval')
  if (approval === undefined) return undefined
  const { min, max } = EXPIRY_SECONDS
  const read = omitUndefined({
    above: readThresholds(approval),
    new_receivers: approval.find('new_receivers', flag),
    expires_after_seconds: approval.find('expires_after_seconds', whole(min, max)),
  })
  approval.finish()
  return read
}

function readThresholds(approval: Reader): ApprovalThreshold[] | undefined {
  const items = approval.objects('above')
  if (items === undefined) return undefined
  if (items.length === 0) approval.problem('needs an amount, or must be omitted', 'above')
  if (items.length > MAX_LIMITS) approval.problem(`has more than ${MAX_LIMITS} items`, 'above')
  return items.map((item) => {
    const threshold = omitUndefined({
      asset: item.find('asset', asset) ?? 'native',
      network: item.find('network', network),
      value: item.get('value', u128),
    })
    item.finish()
    return threshold
  })
}

function readHours(reader: Reader): SpendingHours | undefined {
  const hours = reader.object('hours')
  if (hours === undefined) return undefined
  const read = omitUndefined({
    from: hours.get('from', timeOfDay),
    to: hours.get('to', timeOfDay),
    days: hours.raw('days') === undefined ? undefined : hours.list<Weekday>('days', oneOf(...WEEKDAYS)),
  })
  hours.finish()
  return read
}

/** Encodes rules as JSON text for the database. Amounts are decimal strings, because JSON numbers lose digits. */
export function encodeRules(rules: SpendingRules): string {
  return JSON.stringify(rules, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/**
 * Decodes the parsed JSON of the database.
 * @throws Error for rules that this release does not know: a rule that is ignored would permit what it forbids
 */
export function decodeRules(stored: unknown): SpendingRules {
  const problems: string[] = []
  const reader = openReader(stored, 'rules', problems)
  const rules = reader && readRules(reader)
  if (rules === undefined || problems.length > 0) throw new Error(`stored rules: ${problems.join('; ')}`)
  return rules
}
