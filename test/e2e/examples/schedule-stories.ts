import { onTestFinished } from 'vitest'
import { startAnvil } from '../../support/anvil.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import { decided, PAYMENT, passMinutes, schedulesOf } from '../../support/schedules.ts'
import { startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { Heard } from './heard.ts'

/** A schedule that its budget refuses, and one whose last transaction waits for a block. */
export async function playSchedules(heard: Heard): Promise<void> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  onTestFinished(() => anvil.stop())
  const clock = createAdjustableClock()
  const started = await startService({ rpcUrls: [anvil.url], clock })
  onTestFinished(started.stop)
  const service = heard.listen(started)
  const { body } = await service.api<{ secret: string }>('POST', '/api-keys', {
    id: 'payroll',
    name: 'Payroll',
    scopes: ['transactions:read', 'transactions:write'],
    rules: { limits: [{ per: 'day', value: '1000' }] },
  })
  const headers = { authorization: `Bearer ${body.data.secret}` }
  const own = schedulesOf((method, path, content) => service.api(method, path, content, headers))
  const poor = await own.mustCreate({ transaction: { ...PAYMENT, value: '600' }, overlap: 'allow' })
  const slow = await schedulesOf(service.api).mustCreate()
  passMinutes(clock)
  const [first] = await decided(service, slow.id, 1)
  await decided(service, poor.id, 1)
  const path = `/relayers/main/transactions/${first?.transaction_id}`
  await until(
    async () => (await service.api<Transaction>('GET', path)).body.data,
    ({ status }) => status === 'submitted',
  )
  passMinutes(clock)
  await decided(service, slow.id, 2)
  await decided(service, poor.id, 2)
}
