import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { parseJson } from '../../src/contract/exact-integers.ts'
import { type Scenario, startScenario } from '../support/scenario.ts'
import type { Schedule } from '../support/schedules.ts'
import { API_KEY, RECEIVER } from '../support/service.ts'

describe('relayer schedule', () => {
  let story: Scenario

  beforeAll(async () => {
    story = await startScenario()
    Object.assign(process.env, { RELAYER_URL: `${story.service.url}/`, RELAYER_API_KEY: API_KEY })
  }, 60_000)
  afterAll(async () => {
    delete process.env.RELAYER_URL
    delete process.env.RELAYER_API_KEY
    await story.stop()
  })

  /** Runs a command line; it ends with the exit code that is expected. */
  async function call(code: number, ...args: string[]): Promise<{ out: string[]; err: string }> {
    const [out, err]: [string[], string[]] = [[], []]
    const exit = await run(['schedule', ...args], {
      out: (line) => out.push(line),
      err: (line) => err.push(line),
    })
    expect([exit, ...err]).toEqual([code, ...(code === 0 ? [] : err)])
    return { out, err: err.join('\n') }
  }

  const HUGE = 2n ** 63n + 1n
  const REQUEST = `{"to":"${RECEIVER}","value":${HUGE},"speed":"fast"}`
  const WHEN = ['--cron', '0 9 25 * *', '--timezone', 'Europe/Berlin', '--max-runs', '3']

  test('creates, shows, lists, changes, pauses, resumes and deletes, with exact amounts', async () => {
    const { out: dry } = await call(0, 'create', 'main', REQUEST, ...WHEN, '--dry-run')
    expect(dry.join('\n')).toMatch(/^next_runs: +\["20/m)
    const { out } = await call(0, 'create', 'main', REQUEST, ...WHEN, '--name', 'Payroll', '--json')
    const { id, ...created } = parseJson(out.join('\n')) as Schedule
    expect(created).toMatchObject({ name: 'Payroll', timezone: 'Europe/Berlin', max_runs: 3 })
    expect(created.transaction).toMatchObject({ value: String(HUGE) })
    expect((await call(0, 'show', 'main', id)).out).toContainEqual(expect.stringMatching(/^state: +active$/))
    const { out: list } = await call(0, 'list', '--state', 'active')
    expect(list[0]).toMatch(/^RELAYER +ID +STATE +WHEN +NEXT +SENT +NAME$/)
    expect(list[1]).toMatch(
      new RegExp(`^main +${id} +active +0 9 25 \\* \\* Europe/Berlin +20.*Z +0 +Payroll$`),
    )
    expect((await call(0, 'next', 'main', id, '--count', '2')).out).toHaveLength(2)
    expect((await call(0, 'runs', 'main', id)).out).toEqual(['TIME  OUTCOME  TRANSACTION  REASON'])
    await call(0, 'change', 'main', id, '{"cron": "0 10 25 * *"}')
    await call(0, 'pause', 'main', id)
    expect((await call(0, 'show', 'main', id)).out).toContainEqual(expect.stringMatching(/^state: +paused$/))
    expect((await call(0, 'next', 'main', id)).out).toEqual([])
    await call(0, 'resume', 'main', id)
    expect((await call(1, 'approve', 'main', id, '--revision', '4')).err).toContain('own_approval')
    await call(0, 'delete', 'main', id)
    expect((await call(1, 'show', 'main', id)).err).toContain('schedule_not_found')
  })

  test('passes the refusal of the service on, and needs JSON', async () => {
    expect((await call(1, 'create', 'main', REQUEST, '--cron', '61 * * * *')).err).toContain('body.cron')
    expect((await call(1, 'create', 'main', REQUEST)).err).toContain('body.cron')
    expect((await call(1, 'create', 'main', REQUEST, ...WHEN, '--valid-for', 'soon')).err).toContain(
      'valid_for_seconds',
    )
    expect((await call(2, 'create', 'main', 'to: me', ...WHEN)).err).toContain('not JSON')
  })
})
