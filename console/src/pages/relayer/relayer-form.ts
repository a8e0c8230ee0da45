import type { Schemas } from '../../../../clients/typescript/src/index.ts'
import { type Currency, formatPlain, GWEI_DECIMALS } from '../../format/amounts.ts'
import { amountIn, FieldError, type WrittenFields, withoutEmpty } from '../../parts/fields.ts'
import { filledRules, rulesOf } from '../../rules/rules.ts'

type NetworkType = Schemas['NetworkType']
type Policies = Schemas['Relayer']['policies']

/** What the policies of a relayer depend on. */
export interface PolicyParts {
  readonly type: NetworkType
  readonly currency: Currency
  /** The policies that exist, if they are changed: parts without fields stay as they are. */
  readonly present?: Policies
}

/** How each policy with a field is written. */
type Kind = 'amount' | 'gwei' | 'flag'

const COMMON = { min_balance: 'amount', warn_balance: 'amount' } as const

const FIELDS: Readonly<Record<NetworkType, Readonly<Record<string, Kind>>>> = {
  evm: {
    ...COMMON,
    gas_price_cap: 'gwei',
    tx_fee_cap: 'amount',
    private_transactions: 'flag',
    wallet_rpc: 'flag',
  },
  stellar: { ...COMMON, max_fee: 'amount' },
  solana: { ...COMMON, max_allowed_fee_lamports: 'amount' },
}

const TOP_UP_AMOUNTS = ['below', 'to', 'max_per_day'] as const

const decimalsOf = (kind: Kind, { decimals }: Currency) => (kind === 'gwei' ? GWEI_DECIMALS : decimals)

/**
 * Makes the policies of what a person has written. Fields of another type of network that was chosen before are left out.
 * @throws FieldError for an amount that is none
 */
export function policiesOf(fields: WrittenFields, { type, currency, present }: PolicyParts): object {
  const policies = Object.entries(FIELDS[type]).map(([name, kind]) => {
    const path = `policies.${name}`
    if (kind === 'flag') return [name, fields.text(path) && true]
    return [name, amountIn(fields, path, decimalsOf(kind, currency))]
  })
  const networks = { kind: 'one', currency } as const
  return withoutEmpty({
    ...Object.fromEntries(policies),
    top_up: topUpOf(fields, currency),
    rules: rulesOf(fields, { path: 'policies.rules', networks, present: present?.rules }),
  })
}

function topUpOf(fields: WrittenFields, { decimals }: Currency): object | undefined {
  const from = fields.text('policies.top_up.from')
  if (from === undefined) return undefined
  const amounts = TOP_UP_AMOUNTS.map((name) => [name, amountIn(fields, `policies.top_up.${name}`, decimals)])
  return withoutEmpty({ from, ...Object.fromEntries(amounts) })
}

/** Fills the fields with policies, so that `policiesOf` gives those of them back that have fields. */
export function filledPolicies(policies: Policies, { type, currency }: PolicyParts): Record<string, string> {
  const { rules, top_up, ...others } = policies
  const plain = new Map<string, unknown>(Object.entries(others))
  const filled = Object.entries(FIELDS[type]).map(([name, kind]) => {
    const value = plain.get(name)
    if (kind === 'flag') return [`policies.${name}`, value === true ? 'true' : '']
    return [
      `policies.${name}`,
      value === undefined ? '' : formatPlain(BigInt(String(value)), decimalsOf(kind, currency)),
    ]
  })
  const topUp = TOP_UP_AMOUNTS.map((name) => [
    `policies.top_up.${name}`,
    top_up === undefined ? '' : formatPlain(BigInt(top_up[name]), currency.decimals),
  ])
  return {
    ...Object.fromEntries([...filled, ...topUp]),
    'policies.top_up.from': top_up?.from ?? '',
    ...(rules && filledRules(rules, { path: 'policies.rules', networks: { kind: 'one', currency } })),
  }
}

/** Reads endpoints, one in each line: a url, and its weight if that is not 100. Undefined when there are none. */
export function endpointsOf({ text }: WrittenFields): readonly object[] | undefined {
  const lines = text('custom_rpc_urls')?.split('\n') ?? []
  const endpoints = lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([url]) => url !== '')
    .map(([url = '', weight, ...rest]) => {
      if (rest.length > 0 || (weight !== undefined && !/^\d+$/.test(weight)))
        throw new FieldError(
          'custom_rpc_urls',
          `Write a url, and a weight from 0 to 100 behind it, not “${url} ${weight}”.`,
        )
      return { url, ...(weight !== undefined && { weight: Number(weight) }) }
    })
  return endpoints.length > 0 ? endpoints : undefined
}

/** Reads the accounts of a relayer, one signer in each line: its id, and how many of its accounts if that is not 1. Undefined when there are none. */
export function accountsOf({ text }: WrittenFields): Schemas['AccountSource'][] | undefined {
  const lines = (text('accounts') ?? '').split('\n').map((line) => line.trim().split(/\s+/))
  const sources = lines
    .filter(([signer]) => signer !== '')
    .map(([signer_id = '', count, ...rest]) => {
      if (rest.length > 0 || (count !== undefined && !/^[1-9]\d*$/.test(count)))
        throw new FieldError(
          'accounts',
          `Write the id of a signer, and a number of accounts behind it, not “${[signer_id, count, ...rest].join(' ')}”.`,
        )
      return { signer_id, count: Number(count ?? 1) }
    })
  return sources.length > 0 ? sources : undefined
}

/** Writes the accounts of a relayer so that `accountsOf` gives them back. Those that leave are not among them. */
export function filledAccounts(accounts: readonly Schemas['RelayerAccount'][]): string {
  const counts = new Map<string, number>()
  for (const { signer_id, state } of accounts)
    if (state !== 'draining') counts.set(signer_id, (counts.get(signer_id) ?? 0) + 1)
  return [...counts].map(([signer, count]) => (count === 1 ? signer : `${signer} ${count}`)).join('\n')
}

/** Reads channel accounts: a number of them, or the ids of their signers. Undefined when there are none. */
export function channelsOf({ text, list }: WrittenFields): number | readonly string[] | undefined {
  const channels = text('channels')
  return channels !== undefined && /^\d+$/.test(channels) ? Number(channels) : list('channels')
}
