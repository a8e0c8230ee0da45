import { isDeepStrictEqual } from 'node:util'
import {
  type AllowedToken,
  type HttpPrice,
  type OraclePrice,
  type PriceSource,
  type SwapConfig,
  type TokenPrice,
  tokenId,
} from '../../chains/sponsoring.ts'
import {
  type FieldType,
  httpUrl,
  openReader,
  type Reader,
  text,
  tokenAmount,
  whole,
} from '../../lib/fields.ts'
import { omitUndefined } from '../../lib/object.ts'
import { NO_LIMIT, widening } from './limit.ts'
import { choice, type Policy, plain } from './policy-table.ts'

/**
 * The policies about fees in tokens, which the network types with such fees have. `name` reads the field that
 * names a token.
 */
export function sponsoringPolicies(key: 'mint' | 'asset', name: FieldType<string>) {
  return {
    feePaymentStrategy: {
      wireName: 'fee_payment_strategy',
      type: choice('user', 'relayer'),
      limit: widening({ user: ['user'], relayer: ['user', 'relayer'] }),
      description:
        'user: what others sign pays for its fee in a token. If absent, user with allowed_tokens, otherwise relayer.',
    },
    allowedTokens: {
      wireName: 'allowed_tokens',
      type: {
        read: (policies, field) => readTokens(policies, field, { key, name }),
        decode: (stored) => decodeTokens(stored, { key, name }),
      },
      // No list of tokens is wider than another as a whole: their prices differ. So that of the file holds
      // unchanged.
      limit: { isWithin: isDeepStrictEqual, describe: () => 'the tokens of the file are expected' },
      description: 'The tokens in which users can pay, with their prices.',
    },
    feeMarginPercentage: {
      wireName: 'fee_margin_percentage',
      type: plain(percentage(MAX_MARGIN)),
      limit: NO_LIMIT,
      description: 'The surcharge on the fee that users pay.',
    },
  } as const satisfies {
    readonly feePaymentStrategy: Policy<'user' | 'relayer'>
    readonly allowedTokens: Policy<readonly AllowedToken[]>
    readonly feeMarginPercentage: Policy<number>
  }
}

/** A higher surcharge is a mistake. */
const MAX_MARGIN = 10_000

/** A percentage with at most four digits behind the point, so that amounts can be computed exactly. */
export function percentage(max: number): FieldType<number> {
  return {
    expected: `a number from 0 to ${max} with at most 4 decimals`,
    read: (value) =>
      typeof value === 'number' && value >= 0 && value <= max && Number(value.toFixed(4)) === value
        ? value
        : undefined,
    blank: 0,
  }
}

interface Naming {
  readonly key: 'mint' | 'asset'
  readonly name: FieldType<string>
}

const MAX_TOKENS = 100
const MAX_DECIMALS = 38

function readTokens(policies: Reader, field: string, naming: Naming): readonly AllowedToken[] | undefined {
  const readers = policies.objects(field)
  const tokens = readers?.map((reader) => readToken(reader, naming))
  if (tokens === undefined) return undefined
  if (tokens.length > MAX_TOKENS) policies.problem(`has more than ${MAX_TOKENS} "${field}"`)
  const names = tokens.map(tokenId)
  const twice = names.find((one, index) => names.indexOf(one) < index)
  if (twice !== undefined) policies.problem(`names ${twice} twice`, field)
  return tokens
}

function readToken(reader: Reader, { key, name }: Naming): AllowedToken {
  // Existing files have what OpenZeppelin Relayer read from the network.
  reader.ignore('metadata')
  const swap = reader.object('swap_config')
  const price = reader.object('price')
  const token: AllowedToken = omitUndefined({
    [key]: reader.get(key, name),
    decimals: reader.find('decimals', whole(0, MAX_DECIMALS)),
    symbol: reader.find('symbol', text),
    max_allowed_fee: reader.find('max_allowed_fee', tokenAmount),
    max_token_balance: reader.find('max_token_balance', tokenAmount),
    swap_config: swap && readSwap(swap),
    price: price && readPrice(price, key),
  })
  reader.finish()
  return token
}

function readSwap(reader: Reader): SwapConfig {
  const swap = omitUndefined({
    slippage_percentage: reader.find('slippage_percentage', percentage(100)),
    min_amount: reader.find('min_amount', tokenAmount),
    max_amount: reader.find('max_amount', tokenAmount),
    retain_min_amount: reader.find('retain_min_amount', tokenAmount),
  })
  reader.finish()
  return swap
}

/** A price that is older than a day is no price. */
const MAX_AGE_SECONDS = 86_400

function readPrice(reader: Reader, key: Naming['key']): TokenPrice {
  const sources = (reader.objects('sources') ?? []).map((source) => readSource(source, key))
  if (sources.length < 1 || sources.length > 2) reader.problem('must have one or two items', 'sources')
  const price = omitUndefined({
    sources,
    max_age_seconds: reader.find('max_age_seconds', whole(1, MAX_AGE_SECONDS)),
    max_difference_percentage: reader.find('max_difference_percentage', percentage(100)),
  })
  reader.finish()
  return price
}

function readSource(reader: Reader, key: Naming['key']): PriceSource {
  const type = reader.get('type', SOURCE_TYPE)
  const source = SOURCES[type](reader, key)
  reader.finish()
  return source
}

const SOURCES: {
  readonly [Type in PriceSource['type']]: (reader: Reader, key: Naming['key']) => PriceSource
} = {
  fixed: (reader) => ({ type: 'fixed', price: reader.get('price', decimal) }),
  oracle: readOracle,
  http: readHttp,
  jupiter: (reader, key) => {
    if (key === 'asset') reader.problem('has the type "jupiter", which is for tokens on Solana', 'type')
    return { type: 'jupiter', url: reader.get('url', httpUrl) }
  },
  pyth: (reader) =>
    omitUndefined({
      type: 'pyth' as const,
      url: reader.get('url', httpUrl),
      native: reader.get('native', feedId),
      token: reader.find('token', feedId),
      max_confidence_percentage: reader.find('max_confidence_percentage', percentage(100)),
    }),
}

function readHttp(reader: Reader): HttpPrice {
  return omitUndefined({
    type: 'http' as const,
    url: reader.get('url', httpUrl),
    pointer: reader.get('pointer', pointer),
    time_pointer: reader.find('time_pointer', pointer),
  })
}

function readOracle(reader: Reader, key: Naming['key']): OraclePrice {
  return omitUndefined({
    type: 'oracle' as const,
    contract: key === 'asset' ? reader.get('contract', contract) : undefined,
    native: reader.get('native', text),
    token: reader.find('token', text),
  })
}

const SOURCE_TYPE: FieldType<PriceSource['type']> = {
  expected: '"fixed", "oracle", "http", "jupiter" or "pyth"',
  read: (value) => SOURCE_TYPES.find((type) => type === value),
  blank: 'fixed',
}
const SOURCE_TYPES = ['fixed', 'oracle', 'http', 'jupiter', 'pyth'] as const

/** A price feed of Pyth. */
const feedId: FieldType<string> = {
  expected: 'the id of a price feed of Pyth: 64 hex digits',
  read: (value) => (typeof value === 'string' && /^(0x)?[0-9a-fA-F]{64}$/.test(value) ? value : undefined),
  blank: '',
}

/** A positive number of at most 30 digits on each side of the point. */
const decimal: FieldType<string> = {
  expected: 'a positive number in decimal digits as a text, such as "148.25"',
  read: (value) =>
    typeof value === 'string' && /^[0-9]{1,30}(\.[0-9]{1,30})?$/.test(value) && /[1-9]/.test(value)
      ? value
      : undefined,
  blank: '1',
}

const pointer: FieldType<string> = {
  expected: 'a JSON pointer (RFC 6901), such as "/data/price"',
  read: (value) => (typeof value === 'string' && /^(\/[^/]{0,100}){1,20}$/.test(value) ? value : undefined),
  blank: '/',
}

/** The address of a smart contract on Stellar; the chain checks its checksum. */
export const contract: FieldType<string> = {
  expected: 'the address of a contract: C and 55 letters and digits',
  read: (value) => (typeof value === 'string' && /^C[A-Z2-7]{55}$/.test(value) ? value : undefined),
  blank: '',
}

/**
 * @throws Error for tokens that this release does not know: a price that is half understood would be a guess
 */
function decodeTokens(stored: unknown, naming: Naming): readonly AllowedToken[] {
  const problems: string[] = []
  const reader = openReader({ tokens: stored }, 'allowed_tokens', problems)
  const tokens = reader && readTokens(reader, 'tokens', naming)
  if (tokens === undefined || problems.length > 0)
    throw new Error(`stored allowed_tokens: ${problems.join('; ')}`)
  return tokens
}

/**
 * Reads fields of existing files that have no effect, because the plugin `swap` has a configuration of its
 * own.
 */
export function ignoreSwaps(policies: Reader): void {
  policies.ignore('swap_config')
}
