import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { type Currency, currencyOf, formatPlain } from '../format/amounts.ts'
import { amountIn, type WrittenFields, withoutEmpty } from '../parts/fields.ts'

type Rules = Schemas['SpendingRules']

/** The networks that amounts of rules can be on: that of a relayer, or any that an API key sees. */
export type RuledNetworks =
  | { readonly kind: 'one'; readonly currency: Currency }
  | {
      readonly kind: 'any'
      /** By type and name, such as `evm:sepolia`. */
      readonly ids: readonly string[]
      readonly currencyOf: (id: string) => Currency | undefined
    }

interface AmountPath {
  readonly path: string
  readonly networks: RuledNetworks
  /** Fees are always in the native currency. */
  readonly ofFees?: boolean
}

/** The currency of an amount, where its network is chosen and its asset is the native one; otherwise it is in the smallest unit. */
export function unitIn(
  { text }: Pick<WrittenFields, 'text'>,
  { path, networks, ofFees = false }: AmountPath,
): Currency | undefined {
  const asset = text(`${path}.asset`)
  if (!ofFees && asset !== undefined && asset !== 'native') return undefined
  if (networks.kind === 'one') return networks.currency
  const id = text(`${path}.network`)
  return id === undefined ? undefined : networks.currencyOf(id)
}

/** The currency of a network by its id, such as `evm:sepolia`, with its symbol where the network is known. */
export function currencyOfId(id: string, known: readonly Schemas['Network'][]): Currency | undefined {
  const type = (['evm', 'stellar', 'solana'] as const).find((one) => id.startsWith(`${one}:`))
  return type && currencyOf(type, known.find((network) => network.id === id)?.symbol)
}

interface RulesPath {
  readonly path: string
  readonly networks: RuledNetworks
}

/** The days in the order of a week, as the contract has them. */
export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const satisfies readonly NonNullable<NonNullable<Rules['hours']>['days']>[number][]

/**
 * Makes the rules of what a person has written; undefined when every field is empty. The parts of the `present` rules for which the form has no
 * fields stay as they are.
 * @throws FieldError for an amount that is none
 */
export function rulesOf(
  fields: WrittenFields,
  { path, networks, present = {} }: RulesPath & { readonly present?: Rules | undefined },
): Rules | undefined {
  const { text, list } = fields
  const count = Number(fields.values[`${path}.limits`] ?? 0)
  const limits = Array.from({ length: count }, (_, index) =>
    limitOf(fields, { path: `${path}.limits[${index}]`, networks }),
  )
  const rules = withoutEmpty({
    ...present,
    receivers: list(`${path}.receivers`) ?? emptyOf(present.receivers),
    contracts: list(`${path}.contracts`) ?? emptyOf(present.contracts),
    limits: limits.length > 0 ? limits : undefined,
    require_approval:
      text(`${path}.require_approval`) === 'present'
        ? present.require_approval
        : approvalOf(fields, { path: `${path}.require_approval`, networks }),
    hours: hoursOf(fields, `${path}.hours`),
    idempotency: text(`${path}.idempotency`) && 'required',
  })
  return Object.keys(rules).length > 0 ? (rules as Rules) : undefined
}

/** An empty list forbids everything, and an absent one nothing: the one must not become the other because its field is empty. */
function emptyOf(list: readonly string[] | undefined): readonly string[] | undefined {
  return list?.length === 0 ? list : undefined
}

function hoursOf({ text, values }: WrittenFields, path: string): object | undefined {
  if (text(path) === undefined) return undefined
  const days = WEEKDAYS.filter((day) => values[`${path}.days ${day}`] === 'true')
  // The service says which of the two is missing.
  return withoutEmpty({
    from: text(`${path}.from`),
    to: text(`${path}.to`),
    days: days.length > 0 ? days : undefined,
  })
}

function limitOf(fields: WrittenFields, where: RulesPath) {
  const { path } = where
  const count = fields.text(`${path}.count`)
  return withoutEmpty({
    per: fields.text(`${path}.per`) ?? 'transaction',
    ...amountOf(fields, where),
    fees: amountIn(fields, `${path}.fees`, unitIn(fields, { ...where, ofFees: true })?.decimals ?? 0),
    // The service says what is wrong with a number that is none.
    count: count === undefined ? undefined : Number.isSafeInteger(Number(count)) ? Number(count) : count,
  })
}

function amountOf(fields: WrittenFields, where: RulesPath) {
  const { path } = where
  return {
    network: fields.text(`${path}.network`),
    asset: fields.text(`${path}.asset`),
    value: amountIn(fields, `${path}.value`, unitIn(fields, where)?.decimals ?? 0),
  }
}

function approvalOf(fields: WrittenFields, { path, networks }: RulesPath): object | undefined {
  switch (fields.text(path)) {
    case 'every':
      return {}
    case 'new':
      return { new_receivers: true }
    case 'above':
      return { above: [withoutEmpty(amountOf(fields, { path: `${path}.above[0]`, networks }))] }
    default:
      return undefined
  }
}

/** Fills the fields with rules, so that `rulesOf` gives the same rules back. An approval stays as it is until another one is chosen. */
export function filledRules(rules: Rules, { path, networks }: RulesPath): Record<string, string> {
  const { receivers, contracts, limits = [], hours, idempotency, require_approval: approval } = rules
  const days = hours?.days ?? []
  return {
    [`${path}.receivers`]: receivers?.join('\n') ?? '',
    [`${path}.contracts`]: contracts?.join('\n') ?? '',
    [`${path}.limits`]: String(limits.length),
    ...Object.assign(
      {},
      ...limits.map((limit, at) => filledLimit(limit, { path: `${path}.limits[${at}]`, networks })),
    ),
    ...(approval && { [`${path}.require_approval`]: 'present' }),
    ...(hours && {
      [`${path}.hours`]: 'some',
      [`${path}.hours.from`]: hours.from,
      [`${path}.hours.to`]: hours.to,
    }),
    ...Object.fromEntries(days.map((day) => [`${path}.hours.days ${day}`, 'true'])),
    [`${path}.idempotency`]: idempotency === 'required' ? 'true' : '',
  }
}

function filledLimit({ per, fees, count, ...amount }: Schemas['SpendingLimit'], where: RulesPath) {
  const { path } = where
  const filled: Record<string, string> = filledAmount(amount, where)
  const unit = unitIn({ text: (name) => filled[name] }, { ...where, ofFees: true })
  return {
    ...filled,
    [`${path}.per`]: per,
    ...(fees !== undefined && { [`${path}.fees`]: formatPlain(BigInt(fees), unit?.decimals ?? 0) }),
    ...(count !== undefined && { [`${path}.count`]: String(count) }),
  }
}

type Amount = Pick<Schemas['SpendingLimit'], 'asset' | 'network' | 'value'>

function filledAmount({ asset, network, value }: Amount, where: RulesPath): Record<string, string> {
  const { path } = where
  const filled: Record<string, string> = {
    ...(network !== undefined && { [`${path}.network`]: network }),
    ...(asset !== undefined && { [`${path}.asset`]: asset }),
  }
  const unit = unitIn({ text: (name) => filled[name] }, where)
  if (value !== undefined) filled[`${path}.value`] = formatPlain(BigInt(value), unit?.decimals ?? 0)
  return filled
}
