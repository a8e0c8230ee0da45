import { copyPlugins, untilReady } from '../../support/plugins.ts'
import { startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import type { Heard } from './heard.ts'

/** Lets a plugin pay, refuse and not answer, and another one, which has to be asked first, not answer either. */
export async function playPlugins(heard: Heard): Promise<void> {
  const folder = copyPlugins()
  const path = folder.path('payout.ts')
  const schedule = [{ name: 'payroll', cron: '0 9 25 * *', timezone: 'Europe/Berlin' }]
  const story = await startScenario({
    plugins: [
      { id: 'payout', path, timeout: 1, forward_logs: true, hooks: { schedule } },
      { id: 'guard', path, hooks: { before_send: { timeout: 1 } } },
    ],
  })
  try {
    const { api } = heard.listen(story.service)
    await untilReady(story.service)
    const call = (params: object) => api('POST', '/plugins/payout/call', { params })
    await call({ name: 'alice' })
    await api('GET', '/plugins/payout')
    await call({ name: 'bob' })
    await call({ slow: true })
    await api('GET', '/plugins')
    await api('POST', '/relayers/main/transactions', { to: RECEIVER, value: 1 })
  } finally {
    await story.stop()
    folder.remove()
  }
}
