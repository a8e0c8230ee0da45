import type { EventType } from '../../events/event.ts'

/**
 * The functions of a plugin that the service calls by itself. Each is exported under the name of its field.
 */
export interface PluginHooks {
  readonly before_send?: BeforeSendHook | undefined
  readonly on_event?: EventHook | undefined
  /** Each calls `schedule` at its times; empty if there is none. */
  readonly schedule: readonly ScheduleHook[]
}

/** Asks `before_send` about each request to send, to replace or to sign, before it is accepted. */
export interface BeforeSendHook {
  /** Seconds that it has for an answer. */
  readonly timeout: number
  /** The decision if it does not answer in time, fails, or cannot be called. */
  readonly onFailure: 'refuse' | 'allow'
}

/** Calls `on_event` with each event of the log. */
export interface EventHook {
  /** Absent for all types. */
  readonly types?: readonly EventType[] | undefined
  /** Seconds that a call has. */
  readonly timeout: number
}

/** Calls `schedule` at the times of a cron expression. */
export interface ScheduleHook {
  readonly name: string
  /** Five fields, or six that begin with the seconds. */
  readonly cron: string
  /** An IANA name. */
  readonly timezone: string
  /** Seconds that a run has. */
  readonly timeout: number
}

/** The types of events that a hook gets. A test event of a notification is for its receiver alone. */
export const HOOKED_EVENTS = [
  'transaction_update',
  'transaction_undecided',
  'transaction_stuck',
  'transaction_reorganized',
  'relayer_state_update',
  'schedule_update',
  'alert',
] as const satisfies readonly EventType[]

/**
 * The seconds of a hook without a `timeout`, and the most that one may have. A caller waits for
 * `before_send`.
 */
export const HOOK_TIMEOUTS = {
  before_send: { standard: 5, longest: 20 },
  on_event: { standard: 30, longest: 30 },
  schedule: { standard: 300, longest: 3_600 },
} as const

/** A plugin has at most this many schedules: all of them are looked at every second. */
export const MAX_SCHEDULES = 100

/** A plugin without hooks. */
export const NO_HOOKS: PluginHooks = { schedule: [] }

/** Receives what hooks do. Its methods must not throw. */
export interface HookObserver {
  /** `failed`: it did not answer as it should, and its policy decided. */
  decided(plugin: string, decision: 'allowed' | 'refused' | 'approval' | 'failed'): void
  /** `failed`: it is tried again. `given_up`: it failed for a day. */
  event(plugin: string, result: 'handled' | 'failed' | 'given_up'): void
  ran(schedule: {
    readonly plugin: string
    readonly name: string
    readonly result: 'succeeded' | 'failed'
    readonly missed: number
  }): void
}
