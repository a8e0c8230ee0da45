import type { Db } from '../database/schema.ts'
import { countDead } from '../notifications/delivery/delivery-store.ts'
import type { HealthReading } from '../relayers/health/reading.ts'
import { networkOf } from '../relayers/network-of.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { readLimitUsages } from '../spending/limit-usages.ts'
import { subjectOfKey, subjectOfRelayer } from '../spending/subject.ts'
import type { Finding } from './alert.ts'
import { findLowBalances } from './balances.ts'
import { findUsedBudgets, type SpenderUsage } from './budgets.ts'
import { findDeadLetters } from './dead-letters.ts'
import { findDisabledRelayers } from './disabled-relayers.ts'
import { findAlertingRelayers, findLimitedApiKeys, readStuckTransactions } from './facts-store.ts'
import { notificationsOf } from './notifications-of.ts'
import { findStuckTransactions } from './stuck-transactions.ts'

interface LookOptions {
  /** The numbers of the last health checks. */
  readonly readings: readonly HealthReading[]
  readonly now: Date
}

/** Looks for everything that can make an alert fire, except endpoints. Rejects when the database does not answer. */
export async function lookForFindings(db: Db, { readings, now }: LookOptions): Promise<Finding[]> {
  const relayers = await findAlertingRelayers(db)
  return [
    ...findLowBalances(relayers, readings),
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
    ...relayers.map(
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
