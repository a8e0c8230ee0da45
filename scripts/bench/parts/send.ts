import { callService } from '../../../test/support/service.ts'
import { atLeast, percentile, type Row, single } from '../measurement.ts'
import { measureSink } from '../support/sink.ts'
import {
  BODY,
  confirmed,
  measureSustained,
  pause,
  type Stage,
  send,
  transactionsOf,
  WARM_UP,
  withService,
} from '../support/stage.ts'

/** Requests one after the other, for the time to the node. */
const LONE_REQUESTS = 100
const LONE_PAUSE_MS = 50

/**
 * The main job, end to end: the service as a process of its own with the embedded database, in front of a fresh anvil,
 * beside the sink: the same anvil fed with presigned transactions. Linux only, as the CPU time comes from /proc.
 */
export async function benchSend({ transactions }: { transactions: number }): Promise<Row[]> {
  const sinkBefore = await measureSink(transactions)
  const sustained = await withService({ way: 'direct' }, (stage) => measureSustained(stage, transactions))
  const sinkAfter = await measureSink(transactions)
  const sink = (sinkBefore + sinkAfter) / 2
  const { calls, toNode } = await withService({ way: 'counted' }, (stage) =>
    measureCalls(stage, transactions),
  )
  return [
    {
      what: `send embedded, one account, ${transactions} until the node has all; bare: presigned, pushed into the same node`,
      ours: `${sustained.perSecond.toFixed(0)} /s`,
      bare: `${sink.toFixed(0)} /s`,
      value: sustained.perSecond / sink,
      goal: atLeast(0.12),
    },
    single('send embedded: lost', sustained.lost, { unit: '', limit: 0 }),
    single('send embedded: CPU per transaction, database and all', sustained.cpuMs, {
      unit: 'ms',
      digits: 2,
      limit: 0.9,
    }),
    single('send: RPC calls per transaction', calls, { unit: '', digits: 2 }),
    single('send: from the request to the node, light load, p50', percentile(toNode, 0.5), {
      unit: 'ms',
      digits: 1,
      limit: 20,
    }),
    single('send: from the request to the node, light load, p95', percentile(toNode, 0.95), {
      unit: 'ms',
      digits: 1,
    }),
  ]
}

/** RPC calls under load, and then how long lone requests take from the first byte until their bytes arrive at the node. */
async function measureCalls({ node, service }: Stage, count: number) {
  node.calls.clear()
  await send(service, count)
  await confirmed(service, WARM_UP + count)
  const calls = [...node.calls.values()].reduce((sum, one) => sum + one, 0) / count
  const toNode: number[] = []
  while (toNode.length < LONE_REQUESTS) {
    const arrived = Promise.withResolvers<number>()
    node.fault = (methods) => {
      if (methods.includes('eth_sendRawTransaction')) arrived.resolve(performance.now())
      return 'pass'
    }
    const start = performance.now()
    await callService(service.url, { method: 'POST', path: transactionsOf('main'), body: BODY })
    toNode.push((await arrived.promise) - start)
    await pause(LONE_PAUSE_MS)
  }
  return { calls, toNode }
}
