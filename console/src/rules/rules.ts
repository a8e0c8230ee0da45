import type { Schemas } from '../../../clients/typescript/src/index.ts'
import { type Currency, currencyOf } from '../format/amounts.ts'
import { amountIn, type Fields, withoutEmpty } from '../parts/fields.ts'

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
  { text }: Fields,
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

/**
 * Makes the rules of what a person has written; undefined when every field is empty.
 * @throws FieldError for an amount that is none
 */
export function rulesOf(fields: Fields, { path, networks }: RulesPath): Rules | undefined {
  const { text, list } = fields
  const count = Number(fields.values[`${path}.limits`] ?? 0)
  const limits = Array.from({ length: count }, (_, index) =>
    limitOf(fields, { path: `${path}.limits[${index}]`, networks }),
  )
  const rules = withoutEmpty({
    receivers: list(`${path}.receivers`),
    contracts: list(`${path}.contracts`),
    limits: limits.length > 0 ? limits : undefined,
    require_approval: approvalOf(fields, { path: `${path}.require_approval`, networks }),
    idempotency: text(`${path}.idempotency`) && 'required',
  })
  return Object.keys(rules).length > 0 ? (rules as Rules) : undefined
}

function limitOf(fields: Fields, where: RulesPath) {
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

function amountOf(fields: Fields, where: RulesPath) {
  const { path } = where
  return {
    network: fields.text(`${path}.network`),
    asset: fields.text(`${path}.asset`),
    value: amountIn(fields, `${path}.value`, unitIn(fields, where)?.decimals ?? 0),
  }
}

function approvalOf(fields: Fields, { path, networks }: RulesPath): object | undefined {
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
