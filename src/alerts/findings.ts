import { FAMILIES } from '../chains/families.ts'
import { tokenId } from '../chains/sponsoring.ts'
import type { Db } from '../database/db.ts'
import { omitUndefined } from '../lib/object.ts'
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

interface LookOptions {
  /** The numbers of the last health checks. */
  readonly readings: readonly HealthReading[]
  readonly now: Date
}

/**
 * Looks for everything that can make an alert fire, except endpoints. Rejects when the database does not
 * answer.
 */
export async function findFindings(db: Db, { readings, now }: LookOptions): Promise<Finding[]> {
  const relayers = await findAlertingRelayers(db)
  return [
    ...findLowBalances(relayers, readings),
    ...findHighTokenBalances(relayers, readings),
    ...findDisabledRelayers(relayers),
    ...findStuckTransactions(await readStuckTransactions(db)),
    ...findUsedBudgets(await readUsages(db, relayers, now)),
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
export function findLowBalances(relayers: readonly Relayer[], readings: readonly HealthReading[]): Finding[] {
  const read = new Map(readings.map((reading) => [reading.relayerId, reading]))
  return relayers.flatMap((relayer) => {
    const { warnBalance } = relayer.policies
    return warnBalance === undefined ? [] : [compareBalance(relayer, warnBalance, read.get(relayer.id))]
  })
}

function compareBalance(relayer: Relayer, threshold: bigint, reading: HealthReading | undefined): Finding {
  const { id: accountId, networkType, network, address } = relayer
  const id = poolIdOf(accountId)
  // A number of another network says nothing.
  const balance = reading?.network === network ? reading.spendable : undefined
  const isLow = balance !== undefined && balance < threshold
  const isEnough = balance !== undefined && !isLow && balance * 100n >= threshold * BALANCE_ENOUGH_PERCENT
  const amounts = `${balance} ${FAMILIES[networkType].unit}; its warn_balance is ${threshold}`
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
): Finding[] {
  const read = new Map(readings.map((reading) => [reading.relayerId, reading]))
  return relayers.flatMap((relayer) =>
    (sponsoringPoliciesOf(relayer).allowedTokens ?? []).flatMap((token) => {
      const most = token.max_token_balance
      const reading = read.get(relayer.id)
      // A balance of another network says nothing.
      const balance = reading?.network === relayer.network ? reading.tokens?.get(tokenId(token)) : undefined
      return most === undefined ? [] : [compareTokens(relayer, { token: tokenId(token), most, balance })]
    }),
  )
}

interface TokenReading {
  readonly token: string
  readonly most: bigint
  /** Undefined if no node returned it. */
  readonly balance: bigint | undefined
}

function compareTokens(relayer: Relayer, { token, most, balance }: TokenReading): Finding {
  const isHigh = balance !== undefined && balance > most
  const isEnough = balance !== undefined && balance * 100n < most * TOKENS_ENOUGH_PERCENT
  const amounts = `${balance} base units of ${token}; its max_token_balance is ${most}`
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
function findDisabledRelayers(relayers: readonly Relayer[]): Finding[] {
  return relayers
    .filter(({ systemDisabled }) => systemDisabled)
    .map((relayer) => ({
      kind: 'relayer_disabled',
      subject: relayer.id,
      state: 'firing',
      notifications: notificationsOf([relayer]),
      detail: {
        message: `The service has disabled ${withoutCapital(nameOfAccount(relayer))}. ${relayer.disabledReason?.details ?? 'A health check failed.'} Remove the cause; the service then enables it automatically.`,
        network: networkOf(relayer),
        relayer_id: poolIdOf(relayer.id),
      },
    }))
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
export function findUsedBudgets(usages: readonly SpenderUsage[]): Finding[] {
  return usages.flatMap((usage) =>
    usage.limits.flatMap((one) =>
      AMOUNTS.flatMap((amount) => {
        const limit = BigInt(one.limit[amount] ?? 0)
        return limit === 0n ? [] : [compareUsage(usage, one, { amount, limit })]
      }),
    ),
  )
}

function compareUsage(
  { spender, relayerId, apiKeyId, notifications }: SpenderUsage,
  { rule, per, network, asset, spent }: LimitUsage,
  { amount, limit }: { readonly amount: (typeof AMOUNTS)[number]; readonly limit: bigint },
): Finding {
  const used = BigInt(spent[amount])
  const isNearly = used * 100n >= limit * BUDGET_NEARLY_PERCENT
  const isEnough = used * 100n < limit * BUDGET_ENOUGH_PERCENT
  const sentence = `Rule ${rule}.${amount} of ${nameOf(spender)}: ${used} of ${limit} per ${per} is used on ${network} (${asset}).`
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
