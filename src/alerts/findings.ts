import { formatExact, withAmounts } from '../../console/src/format/amounts.ts'
import { NATIVE } from '../chains/effects.ts'
import { FAMILIES } from '../chains/families.ts'
import { tokenId } from '../chains/sponsoring.ts'
import type { Db } from '../database/db.ts'
import { omitUndefined } from '../lib/object.ts'
import type { AssetNames } from '../networks/tokens.ts'
import { countDead } from '../notifications/delivery/delivery-store.ts'
import { isFurtherAccount, nameOfAccount, poolIdOf } from '../relayers/accounts/pool.ts'
import type { HealthReading } from '../relayers/health/health.ts'
import { sponsoringPoliciesOf } from '../relayers/policies/policy.ts'
import { networkOf, type Relayer } from '../relayers/relayer.ts'
import { AMOUNTS } from '../spending/budget.ts'
import { nameOf, type Spender, subjectOfKey, subjectOfRelayer } from '../spending/rules.ts'
import { type LimitUsage, readLimitUsages } from '../spending/usage.ts'
import type { Finding } from './alert.ts'
import {
  findAlertingRelayers,
  findLimitedApiKeys,
  readStuckTransactions,
  type StuckTransaction,
} from './alerts-store.ts'

/**
 * Returns the names of the assets of a network, by type and name; undefined if there is none with this name.
 */
export type NamesOf = (network: string) => AssetNames | undefined

interface LookOptions {
  /** The numbers of the last health checks. */
  readonly readings: readonly HealthReading[]
  readonly now: Date
  readonly namesOf: NamesOf
}

interface AmountIn {
  readonly network: string
  /** Its name in rules. */
  readonly asset: string
  /** The unit to write where the operator names none. */
  readonly unit: string
}

/** Creates a writer of amounts in the coins that people know, with every digit. */
function amountsIn({ network, asset, unit }: AmountIn, namesOf: NamesOf): (amount: bigint) => string {
  const named = namesOf(network)?.(asset)
  if (named === undefined) return (amount) => `${amount} ${unit}`
  return (amount) => `${formatExact(amount, named.decimals)} ${named.symbol}`
}

/**
 * Looks for everything that can make an alert fire, except endpoints. Rejects when the database does not
 * answer.
 */
export async function findFindings(db: Db, { readings, now, namesOf }: LookOptions): Promise<Finding[]> {
  const relayers = await findAlertingRelayers(db)
  return [
    ...findLowBalances(relayers, readings, namesOf),
    ...findHighTokenBalances(relayers, readings, namesOf),
    ...findDisabledRelayers(relayers, namesOf),
    ...findStuckTransactions(await readStuckTransactions(db)),
    ...findUsedBudgets(await readUsages(db, relayers, now), namesOf),
    ...findDeadLetters(await countDead(db)),
  ]
}

type Limited = Omit<SpenderUsage, 'limits'> & { readonly networks: readonly string[] }

async function readUsages(db: Db, relayers: readonly Relayer[], now: Date): Promise<SpenderUsage[]> {
  const keys = await findLimitedApiKeys(db)
  const limited = [
    // The accounts of a relayer have its budget together.
    ...relayers
      .filter((relayer) => !isFurtherAccount(relayer))
      .map(
        (relayer): Limited => ({
          spender: { subject: subjectOfRelayer(relayer.id), rules: relayer.policies.rules ?? {} },
          networks: [networkOf(relayer)],
          relayerId: relayer.id,
          notifications: notificationsOf([relayer]),
        }),
      ),
    ...keys.map(
      ({ id, networks, rules }): Limited => ({
        spender: { subject: subjectOfKey(id), rules },
        networks,
        apiKeyId: id,
        notifications: [],
      }),
    ),
  ].filter(({ spender }) => (spender.rules.limits ?? []).length > 0)
  const usages = await readLimitUsages(db, limited, now)
  return limited.map((one) => ({ ...one, limits: usages.get(one.spender.subject) ?? [] }))
}

/** The part of `warn_balance`, in percent, from which on the balance counts as enough again. */
const BALANCE_ENOUGH_PERCENT = 110n

/** Compares the balances that the last checks read with the policies `warn_balance`. Pure. */
export function findLowBalances(
  relayers: readonly Relayer[],
  readings: readonly HealthReading[],
  namesOf: NamesOf,
): Finding[] {
  const read = new Map(readings.map((reading) => [reading.relayerId, reading]))
  return relayers.flatMap((relayer) => {
    const { warnBalance: threshold } = relayer.policies
    if (threshold === undefined) return []
    return [compareBalance(relayer, { threshold, reading: read.get(relayer.id), namesOf })]
  })
}

interface BalanceLook {
  readonly threshold: bigint
  readonly reading: HealthReading | undefined
  readonly namesOf: NamesOf
}

function compareBalance(relayer: Relayer, { threshold, reading, namesOf }: BalanceLook): Finding {
  const { id: accountId, networkType, network, address } = relayer
  const id = poolIdOf(accountId)
  // A number of another network says nothing.
  const balance = reading?.network === network ? reading.spendable : undefined
  const isLow = balance !== undefined && balance < threshold
  const isEnough = balance !== undefined && !isLow && balance * 100n >= threshold * BALANCE_ENOUGH_PERCENT
  const unit = FAMILIES[networkType].unit
  const show = amountsIn({ network: networkOf(relayer), asset: NATIVE, unit }, namesOf)
  const amounts = `${show(balance ?? 0n)}; its warn_balance is ${show(threshold)}`
  return {
    kind: 'balance_low',
    subject: accountId,
    state: isLow ? 'firing' : isEnough ? 'over' : 'unclear',
    notifications: notificationsOf([relayer]),
    detail: {
      message: isLow
        ? `${nameOfAccount(relayer)} can spend ${amounts}. Send funds to ${address}.`
        : `${nameOfAccount(relayer)} can spend ${amounts}.`,
      network: networkOf(relayer),
      relayer_id: id,
      value: String(balance),
      threshold: String(threshold),
    },
  }
}

/** The part of `max_token_balance`, in percent, below which the balance counts as low enough again. */
const TOKENS_ENOUGH_PERCENT = 90n

/** Compares the token balances that the last checks read with `max_token_balance`. Pure. */
export function findHighTokenBalances(
  relayers: readonly Relayer[],
  readings: readonly HealthReading[],
  namesOf: NamesOf,
): Finding[] {
  const read = new Map(readings.map((reading) => [reading.relayerId, reading]))
  return relayers.flatMap((relayer) =>
    (sponsoringPoliciesOf(relayer).allowedTokens ?? []).flatMap((token) => {
      const most = token.max_token_balance
      const reading = read.get(relayer.id)
      // A balance of another network says nothing.
      const balance = reading?.network === relayer.network ? reading.tokens?.get(tokenId(token)) : undefined
      return most === undefined
        ? []
        : [compareTokens(relayer, { token: tokenId(token), most, balance, namesOf })]
    }),
  )
}

interface TokenReading {
  readonly token: string
  readonly most: bigint
  /** Undefined if no node returned it. */
  readonly balance: bigint | undefined
  readonly namesOf: NamesOf
}

function compareTokens(relayer: Relayer, { token, most, balance, namesOf }: TokenReading): Finding {
  const isHigh = balance !== undefined && balance > most
  const isEnough = balance !== undefined && balance * 100n < most * TOKENS_ENOUGH_PERCENT
  const asset = { network: networkOf(relayer), asset: token, unit: `base units of ${token}` }
  const show = amountsIn(asset, namesOf)
  const amounts = `${show(balance ?? 0n)}; its max_token_balance is ${show(most)}`
  return {
    kind: 'token_balance_high',
    subject: `${relayer.id} ${token}`,
    state: isHigh ? 'firing' : isEnough ? 'over' : 'unclear',
    notifications: notificationsOf([relayer]),
    detail: {
      message: isHigh
        ? `${nameOfAccount(relayer)} holds ${amounts}. Exchange or withdraw some.`
        : `${nameOfAccount(relayer)} holds ${amounts}.`,
      network: networkOf(relayer),
      relayer_id: poolIdOf(relayer.id),
      value: String(balance),
      threshold: String(most),
    },
  }
}

function withoutCapital(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`
}

/** Finds the relayers that the service has disabled. Pure. */
function findDisabledRelayers(relayers: readonly Relayer[], namesOf: NamesOf): Finding[] {
  return relayers
    .filter(({ systemDisabled }) => systemDisabled)
    .map((relayer) => ({
      kind: 'relayer_disabled',
      subject: relayer.id,
      state: 'firing',
      notifications: notificationsOf([relayer]),
      detail: {
        message: `The service has disabled ${withoutCapital(nameOfAccount(relayer))}. ${reasonOf(relayer, namesOf)} Remove the cause; the service then enables it automatically.`,
        network: networkOf(relayer),
        relayer_id: poolIdOf(relayer.id),
      },
    }))
}

function reasonOf(relayer: Relayer, namesOf: NamesOf): string {
  const { details } = relayer.disabledReason ?? { details: 'A health check failed.' }
  const native = namesOf(networkOf(relayer))?.(NATIVE)
  return native === undefined ? details : withAmounts(details, native)
}

/** Describes the transactions that are stuck. Pure. */
function findStuckTransactions(stuck: readonly StuckTransaction[]): Finding[] {
  return stuck.map(({ id, relayerId, network, notificationId, since }) => ({
    kind: 'transaction_stuck',
    subject: id,
    state: 'firing',
    since,
    notifications: notificationId === undefined ? [] : [notificationId],
    detail: {
      message: `Transaction ${id} blocks the account of relayer ${poolIdOf(relayerId)}. Read its diagnosis, then replace or cancel it.`,
      network,
      relayer_id: poolIdOf(relayerId),
      transaction_id: id,
    },
  }))
}

/** An alert begins at this part of a limit, in percent. */
const BUDGET_NEARLY_PERCENT = 90n

/** The alert is over below this part of the limit, in percent. */
const BUDGET_ENOUGH_PERCENT = 80n

/** A relayer or an API key with limits, and what it has spent of them. */
interface SpenderUsage {
  readonly spender: Spender
  readonly limits: readonly LimitUsage[]
  readonly relayerId?: string | undefined
  readonly apiKeyId?: string | undefined
  readonly notifications: readonly string[]
}

/** Finds the limits of which most is used. A limit of 0 forbids something and is no budget. Pure. */
export function findUsedBudgets(usages: readonly SpenderUsage[], namesOf: NamesOf): Finding[] {
  return usages.flatMap((usage) =>
    usage.limits.flatMap((one) =>
      AMOUNTS.flatMap((amount) => {
        const limit = BigInt(one.limit[amount] ?? 0)
        return limit === 0n ? [] : [compareUsage(usage, one, { amount, limit, namesOf })]
      }),
    ),
  )
}

interface LimitedAmount {
  readonly amount: (typeof AMOUNTS)[number]
  readonly limit: bigint
  readonly namesOf: NamesOf
}

function compareUsage(
  { spender, relayerId, apiKeyId, notifications }: SpenderUsage,
  { rule, per, network, asset, spent }: LimitUsage,
  { amount, limit, namesOf }: LimitedAmount,
): Finding {
  const used = BigInt(spent[amount])
  const isNearly = used * 100n >= limit * BUDGET_NEARLY_PERCENT
  const isEnough = used * 100n < limit * BUDGET_ENOUGH_PERCENT
  const unit = asset === NATIVE ? 'of the smallest unit' : `base units of ${asset}`
  const show = amount === 'count' ? String : amountsIn({ network, asset, unit }, namesOf)
  const sentence = `Rule ${rule}.${amount} of ${nameOf(spender)}: ${show(used)} of ${show(limit)} per ${per} is used on ${network}.`
  return {
    kind: 'budget_nearly_used',
    subject: `${spender.subject} ${rule}.${amount} ${network}`,
    state: isNearly ? 'firing' : isEnough ? 'over' : 'unclear',
    notifications,
    detail: omitUndefined({
      message: isNearly
        ? `${sentence} Raise the limit if this is intended; what exceeds it is refused.`
        : sentence,
      network,
      relayer_id: relayerId,
      api_key_id: apiKeyId,
      value: String(used),
      threshold: String((limit * BUDGET_NEARLY_PERCENT + 99n) / 100n),
    }),
  }
}

/** Finds the notifications with dead letters, by their number. Pure. */
function findDeadLetters(deadLetters: ReadonlyMap<string, number>): Finding[] {
  return [...deadLetters].map(([id, count]) => ({
    kind: 'delivery_dead',
    subject: id,
    state: 'firing',
    notifications: [id],
    detail: {
      message: `The deliveries of notification ${id} that were given up: ${count}. Repair its receiver, then send them again with redeliverDeliveries.`,
      notification_id: id,
      value: String(count),
    },
  }))
}

/** Returns the ids of the notifications of relayers, each once. */
export function notificationsOf(relayers: readonly Pick<Relayer, 'notificationId'>[]): string[] {
  return [...new Set(relayers.flatMap(({ notificationId }) => notificationId ?? []))].sort()
}
