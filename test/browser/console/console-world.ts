import { join } from 'node:path'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** A service with something to see on each page of the console. */
export interface ConsoleWorld {
  readonly story: Scenario
  readonly receiver: Receiver
  /** Sends as the key `payouts`, whose transactions wait for an approval. */
  sendForApproval(): Promise<string>
  /** Sends a transaction that waits for a block, and gives its id. */
  sendSlow(change?: { readonly to: string; readonly value?: string }): Promise<string>
  stop(): Promise<void>
}

/** Starts it: three dead letters, a paused relayer, and the key `payouts` with a limit. */
export async function startConsoleWorld(): Promise<ConsoleWorld> {
  const receiver = await startReceiver()
  const env = { METRICS_ENABLED: 'true', METRICS_PORT: '0' }
  const story = await startScenario({ env, notificationUrl: receiver.url, plugins: PLUGINS })
  const { service } = story
  await makeDeadLetters(story, receiver)
  await service.api('PATCH', '/relayers/other', { paused: true })
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', PAYOUTS)
  const authorization = `Bearer ${body.data.secret}`
  const send = async (headers: Record<string, string>, change = {}) => {
    const request = { to: RECEIVER, value: '1000000000000000', speed: 'safeLow', ...change }
    const answer = await service.api('POST', '/relayers/main/transactions', request, headers)
    if (!answer.body.success) throw new Error(`the transaction was refused: ${answer.body.error}`)
    return answer.body.data.id
  }
  return {
    story,
    receiver,
    sendForApproval: () => send({ authorization }),
    sendSlow: async (change) => {
      const id = await send({}, change)
      await story.reach(id, 'submitted')
      return id
    },
    stop: async () => {
      await story.stop()
      await receiver.stop()
    },
  }
}

/** A receiver that answers with 410 gets nothing any more, so each test event is a dead letter at once, and the notification pauses. */
async function makeDeadLetters({ service }: Scenario, receiver: Receiver): Promise<void> {
  receiver.behave(() => 410)
  for (let count = 1; count <= DEAD_LETTERS; count += 1) {
    await service.api('POST', '/notifications/ops/test')
    await until(
      async () => (await service.api('GET', '/notifications/ops/deliveries?status=dead&per_page=0')).body,
      ({ pagination }) => pagination?.total_items === count,
    )
    await service.api('POST', '/notifications/ops/resume')
  }
  receiver.behave(() => 204)
}

/** One with every hook, which allows each send and has logged a line. */
const PLUGINS = [
  {
    id: 'guard',
    path: join(import.meta.dirname, 'plugin.ts'),
    config: { currency: 'EUR' },
    hooks: {
      before_send: { timeout: 20 },
      on_event: { types: ['transaction_update', 'alert'] },
      schedule: [{ name: 'payroll', cron: '0 9 25 * *', timezone: 'Europe/Berlin' }],
    },
  },
]

const DEAD_LETTERS = 3

const PAYOUTS = {
  id: 'payouts',
  name: 'Payouts',
  scopes: ['relayers:read', 'transactions:read', 'transactions:write'],
  relayers: ['main'],
  rules: { limits: [{ per: 'day', value: '1000000000000000000', count: 100 }], require_approval: {} },
}
