import type { Schemas } from '../../src/contract/operations.ts'
import type { AdjustableClock } from './clock.ts'
import { type Answer, RECEIVER, type Service } from './service.ts'
import { until } from './until.ts'

export type Schedule = Schemas['Schedule']
export type ScheduleRun = Schemas['ScheduleRun']

/** A call with an API key: that of the environment, or of `issueLimited`. */
type Call = <Data>(method: string, path: string, body?: object) => Promise<Answer<Data>>

/** The content of each run, unless the test says otherwise. */
export const PAYMENT = { to: RECEIVER, value: '1', speed: 'fast' }

const EVERY_MINUTE = { cron: '* * * * *', transaction: PAYMENT }

/** The schedules of a relayer, for a caller. */
export function schedulesOf(call: Call, relayer = 'main') {
  const path = `/relayers/${relayer}/schedules`
  const at = (id: string) => `${path}/${id}`
  return {
    create: (body: object) => call<Schedule>('POST', path, { ...EVERY_MINUTE, ...body }),
    mustCreate: async (body: object = {}): Promise<Schedule> => {
      const { status, body: answer } = await call<Schedule>('POST', path, { ...EVERY_MINUTE, ...body })
      if (status !== 200) throw new Error(`refused: ${answer.error}`)
      return answer.data
    },
    get: async (id: string) => (await call<Schedule>('GET', at(id))).body.data,
    change: (id: string, body: object) => call<Schedule>('PATCH', at(id), body),
    remove: (id: string) => call<string>('DELETE', at(id)),
    runs: async (id: string) => (await call<ScheduleRun[]>('GET', `${at(id)}/runs?per_page=100`)).body.data,
    next: async (id: string, count = 10) =>
      (await call<string[]>('GET', `${at(id)}/next-runs?count=${count}`)).body.data,
    decide: (id: string, body: object) => call<Schedule>('POST', `${at(id)}/approval`, body),
  }
}

/** Moves the clock to the next whole minute but `count - 1`, and a moment further. */
export function passMinutes(clock: AdjustableClock, count = 1): void {
  clock.advance(60_000 * count - (clock.now() % 60_000) + 50)
}

/** Waits until this many times of the schedule were decided, and returns them, the newest first. */
export function decided(
  service: Service,
  id: string,
  count: number,
  relayer = 'main',
): Promise<ScheduleRun[]> {
  const { runs } = schedulesOf(service.api, relayer)
  return until(
    () => runs(id),
    (found) => found.length >= count,
  )
}
