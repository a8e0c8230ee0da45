import type { ServiceProcess } from '../../../test/support/process.ts'
import { callService } from '../../../test/support/service.ts'
import { atMost, type Row } from '../measurement.ts'
import { type Kind, startCounter } from '../support/receiver.ts'
import { becomes, cpuMs, measureSustained, type Stage, WARM_UP, withService } from '../support/stage.ts'

/**
 * A transaction that becomes final: pending, sent, submitted, mined, confirmed. One that a block includes before the answer of its broadcast is
 * stored was never submitted.
 */
const EVENTS_PER_TRANSACTION = 5

const KINDS: readonly Kind[] = ['quick', 'slow', 'dead']

const NAMES: Readonly<Record<Kind, string>> = { quick: 'quick', slow: 'slow (2 s)', dead: 'dead' }

interface Cost {
  readonly perSecond: number
  /** For each transaction; with a quick receiver until it has every event. */
  readonly cpuMs: number
}

/**
 * Sending with a webhook for each event of each transaction, beside sending without. Each measurement stands between two without a
 * receiver, because the speed of a shared machine drifts.
 */
export async function benchDeliveries({ transactions }: { transactions: number }): Promise<Row[]> {
  const measurements: Row[] = []
  let before = await measure(undefined, transactions)
  for (const kind of KINDS) {
    const told = await measure(kind, transactions)
    const after = await measure(undefined, transactions)
    const without = {
      perSecond: (before.perSecond + after.perSecond) / 2,
      cpuMs: (before.cpuMs + after.cpuMs) / 2,
    }
    measurements.push(
      {
        what: `send with a webhook for each of five events, receiver ${NAMES[kind]}, time; bare: without`,
        ours: `${told.perSecond.toFixed(0)} /s`,
        bare: `${without.perSecond.toFixed(0)} /s`,
        value: without.perSecond / told.perSecond,
        goal: atMost(1.3),
      },
      {
        what: `send with a webhook for each of five events, receiver ${NAMES[kind]}, CPU; bare: without`,
        ours: `${told.cpuMs.toFixed(2)} ms`,
        bare: `${without.cpuMs.toFixed(2)} ms`,
        value: told.cpuMs / without.cpuMs,
        goal: atMost(1.9),
      },
    )
    before = after
  }
  return measurements
}

async function measure(kind: Kind | undefined, transactions: number): Promise<Cost> {
  if (kind === undefined)
    return withService({ way: 'direct' }, (stage) => measureSustained(stage, transactions))
  const counter = await startCounter(kind)
  try {
    return await withService({ way: 'direct', notificationUrl: counter.url }, async (stage) => {
      const expected = (WARM_UP + transactions) * EVENTS_PER_TRANSACTION
      const arrived = async (count: number) => {
        if (kind !== 'quick') return
        await becomes(async () => counter.received() >= count || (await allDelivered(stage.service)), 500)
      }
      await arrived(WARM_UP * EVENTS_PER_TRANSACTION)
      return untilArrived(stage, { transactions, arrived: () => arrived(expected) })
    })
  } finally {
    await counter.stop()
  }
}

/** The service says that no delivery is open. */
async function allDelivered({ url }: ServiceProcess): Promise<boolean> {
  const open = ['pending', 'waiting'].map(async (status) => {
    const path = `/notifications/ops/deliveries?status=${status}&per_page=1`
    const { body } = await callService(url, { method: 'GET', path })
    return body.pagination?.total_items
  })
  return (await Promise.all(open)).every((count) => count === 0)
}

interface Told {
  readonly transactions: number
  readonly arrived: () => Promise<void>
}

async function untilArrived(stage: Stage, { transactions, arrived }: Told): Promise<Cost> {
  const before = await cpuMs(stage.service)
  const { perSecond } = await measureSustained(stage, transactions)
  await arrived()
  return { perSecond, cpuMs: ((await cpuMs(stage.service)) - before) / transactions }
}
