import { randomUUID } from 'node:crypto'
import type { Answer } from '../chains/answer.ts'
import type {
  Charge,
  SponsoredBuild,
  SponsoredContent,
  Sponsoring,
  SponsoringPlan,
} from '../chains/capabilities.ts'
import type { Chain } from '../chains/chain.ts'
import { type AllowedToken, isPaidByUsers, tokenId } from '../chains/sponsoring.ts'
import type { Db } from '../database/db.ts'
import { AppError } from '../errors.ts'
import { larger } from '../lib/bigint.ts'
import { fingerprintOf } from '../lib/hash.ts'
import type { Clock } from '../lib/time.ts'
import { poolIdOf } from '../relayers/accounts/pool.ts'
import { inactive, sponsoringPoliciesOf } from '../relayers/policies/policy.ts'
import { networkOf, type Relayer } from '../relayers/relayer.ts'
import { chargeOf } from './charge.ts'
import { readAtRisk, riskRefusal } from './fee-payment.ts'
import type { Price } from './price.ts'
import type { PriceReader } from './prices.ts'
import { findQuote, type Quote, saveQuote } from './quotes-store.ts'

/** The relayer that sponsors, and its chain. */
export interface Sponsor {
  readonly relayer: Relayer
  readonly chain: Chain
}

/** The wish of a user. */
export interface SponsoringWish {
  readonly content: SponsoredContent
  readonly feeToken: string
}

/** The price of a transaction in a token. */
export interface Quoted {
  /** In base units of the token. */
  readonly charge: Charge
  /** The user authorizes more than the amount. */
  readonly hasMost: boolean
  /** The network fee, in the smallest unit. */
  readonly fee: bigint
  readonly price: Price
  readonly tokenDecimals: number
  readonly feeToken: string
}

/** A transaction for the user to sign, with its price. */
export interface Built extends Quoted, SponsoredBuild {
  readonly validUntil: Date
}

/** A token in which a relayer can be paid. */
export interface SupportedToken {
  readonly token: AllowedToken
  readonly decimals: number
}

/** Quotes and builds transactions whose fee users pay in tokens. */
export interface Sponsors {
  /** @throws AppError with the rule that the request breaks, `price_unavailable`, or `network_unavailable` */
  quote(sponsor: Sponsor, wish: SponsoringWish): Promise<Quoted>
  /**
   * Builds for the quoted price while the quote holds and the network's fee has not risen; otherwise for the
   * current one. @throws like `quote`
   */
  build(sponsor: Sponsor, wish: SponsoringWish): Promise<Built>
  /** Returns the tokens that the relayer accepts. @throws AppError `not_supported`, `network_unavailable` */
  tokens(sponsor: Sponsor): Promise<readonly SupportedToken[]>
}

/** A quote holds for this time, in ms, and a build without an end of its own. Prices move in a longer one. */
const QUOTE_MS = 60_000

interface SponsorsOptions {
  readonly db: Db
  readonly clock: Clock
  readonly prices: PriceReader
}

/** Creates the sponsoring of this process. */
export function createSponsors({ db, clock, prices }: SponsorsOptions): Sponsors {
  async function evaluate(sponsor: Sponsor, { content, feeToken }: SponsoringWish) {
    const { relayer, chain } = sponsor
    const sponsoring = requireSponsoring(sponsor)
    const refused = inactive(relayer)
    if (refused) throw refused
    const policies = sponsoringPoliciesOf(relayer)
    const token = requireToken(sponsoring, policies.allowedTokens ?? [], feeToken)
    const account = { address: relayer.address, policies: relayer.policies }
    const [planned, read, known] = await Promise.all([
      sponsoring.plan(content, feeToken, account),
      prices.read(networkOf(relayer), sponsoring, token),
      sponsoring.tokenDecimals(feeToken),
    ])
    const plan = require(planned)
    const price = requirePrice(read, feeToken)
    const tokenDecimals = require(known)
    const charge = chargeOf({ ...sponsoring, fee: plan.fee, price, tokenDecimals, token, policies })
    requireAffordable(charge, token)
    if (isPaidByUsers(policies)) await requirePaying(relayer, plan)
    const quoted: Quoted = { charge, hasMost: plan.hasMost, fee: plan.fee, price, tokenDecimals, feeToken }
    return { plan, quoted, unit: chain.unit, isPaid: isPaidByUsers(policies) }
  }

  async function requirePaying(relayer: Relayer, { payer }: SponsoringPlan): Promise<void> {
    const risks = await readAtRisk(db, { relayerId: relayer.id, payers: [payer], now: clock.now() })
    const refused = riskRefusal(risks, payer)
    if (refused) throw refused
  }

  function quoteOf(relayer: Relayer, wish: SponsoringWish, { plan, quoted }: Evaluated): Quote {
    return {
      id: randomUUID(),
      relayerId: poolIdOf(relayer.id),
      content: fingerprintOf([wish.content, wish.feeToken]),
      token: wish.feeToken,
      amount: quoted.charge.amount,
      fee: plan.fee,
      payer: plan.payer,
      validUntil: new Date(clock.now() + QUOTE_MS),
    }
  }

  return {
    quote: async (sponsor, wish) => {
      const evaluated = await evaluate(sponsor, wish)
      const quote = quoteOf(sponsor.relayer, wish, evaluated)
      if (evaluated.isPaid) await saveQuote(db, quote, { now: new Date(clock.now()) })
      return evaluated.quoted
    },
    build: async (sponsor, wish) => {
      const evaluated = await evaluate(sponsor, wish)
      const { plan, isPaid } = evaluated
      const fresh = quoteOf(sponsor.relayer, wish, evaluated)
      const earlier = isPaid ? await findQuote(db, { ...fresh, now: new Date(clock.now()) }) : undefined
      const holds = earlier !== undefined && earlier.fee >= plan.fee
      const charge = holds ? { ...evaluated.quoted.charge, amount: earlier.amount } : evaluated.quoted.charge
      const most = larger(charge.most, charge.amount)
      const built = require(await plan.build(isPaid ? { ...charge, most } : undefined))
      const { hash, receiver, validUntil = fresh.validUntil } = built
      const stored = { ...fresh, amount: charge.amount, validUntil, built: { hash, receiver } }
      if (isPaid) await saveQuote(db, stored, { now: new Date(clock.now()), of: earlier?.id })
      return { ...evaluated.quoted, ...built, charge: { ...charge, most }, validUntil }
    },
    tokens: async (sponsor) => {
      const sponsoring = requireSponsoring(sponsor)
      const { allowedTokens = [] } = sponsoringPoliciesOf(sponsor.relayer)
      return Promise.all(
        allowedTokens.map(async (token) => ({
          token,
          decimals: token.decimals ?? require(await sponsoring.tokenDecimals(tokenId(token))),
        })),
      )
    },
  }
}

interface Evaluated {
  readonly plan: SponsoringPlan
  readonly quoted: Quoted
}

/** @throws AppError `not_supported` */
function requireSponsoring({ relayer, chain }: Sponsor): Sponsoring {
  if (chain.sponsoring !== undefined) return chain.sponsoring
  throw new AppError(
    'not_supported',
    `Relayer ${relayer.id} is on a network of type ${relayer.networkType}; fees are paid in tokens on stellar and solana.`,
  )
}

function requireToken(
  sponsoring: Sponsoring,
  allowed: readonly AllowedToken[],
  feeToken: string,
): AllowedToken {
  const problem = sponsoring.tokenProblem(feeToken)
  if (problem !== undefined) throw new AppError('invalid_request', `fee_token: ${problem}.`)
  const token = allowed.find((one) => tokenId(one) === feeToken)
  if (token !== undefined) return token
  throw new AppError('policy_violation', `fee_token: ${feeToken} is not among the relayer's allowed_tokens.`)
}

function require<T>(answer: Answer<T>): T {
  if (answer.kind === 'ok') return answer.value
  if (answer.kind === 'refused') throw new AppError(answer.refusal.code, answer.refusal.detail)
  const detail = 'No node of the network answers, so nothing was quoted or built. Try again.'
  throw new AppError('network_unavailable', detail, { cause: answer.detail })
}

/** Without a price nothing is sponsored. */
function requirePrice(answer: Answer<Price>, feeToken: string): Price {
  if (answer.kind === 'ok') return answer.value
  const reason = answer.kind === 'refused' ? answer.refusal.detail : `${answer.detail}.`
  throw new AppError('price_unavailable', `fee_token: there is no price for ${feeToken} now: ${reason}`)
}

function requireAffordable({ amount }: Charge, token: AllowedToken): void {
  const { max_allowed_fee: most } = token
  if (most === undefined || amount <= most) return
  throw new AppError(
    'fee_above_cap',
    `fee_token: the fee is ${amount} base units of ${tokenId(token)}, and max_allowed_fee is ${most}.`,
  )
}
