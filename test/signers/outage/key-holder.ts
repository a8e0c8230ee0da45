import {
  type Behaviour,
  type FaultAnswer,
  type FaultProxy,
  PASS,
} from '../../../simulators/key-services/fault-proxy.ts'
import { rerouted } from '../../support/key-services/rerouted.ts'

/** The process of the service under test, as far as outages need it. */
export interface Victim {
  readonly pid: number
}

/** The ways in which a key service can be away. */
export interface Outage {
  readonly name: string
  begin(service: Victim): Promise<void> | void
}

/** A key service that the tests take away and bring back. */
export interface KeyHolder {
  /** The type and the configuration of the signer. */
  readonly signer: { readonly type: string; readonly config: object }
  /** The environment that leads the service to it. */
  readonly env: Readonly<Record<string, string>>
  readonly outages: readonly Outage[]
  /** It is away, and says so quickly, so that a service can start meanwhile. */
  readonly gone: Outage
  /** Takes requests to sign and lets nothing of them come back; resolves with a promise of the first such request. */
  withhold(service: Victim): Promise<{ readonly underWay: Promise<void> }>
  /** The limit of one call, in ms, where it must be longer than that of a service that is asked by HTTP. */
  readonly timeoutMs?: number
  /** Ends every outage. */
  recover(): Promise<void> | void
  /** True where the service signs by itself once it has read the key, so that an outage delays only what comes after a start. */
  readonly isRead?: boolean
  stop(): Promise<void>
}

interface HttpHolder extends Pick<KeyHolder, 'signer' | 'isRead'> {
  readonly proxy: FaultProxy
  /** The answer of the service to too many calls. */
  readonly throttled: FaultAnswer
  /** The fixed hosts of the service. Default: its url is part of the configuration. */
  readonly hosts?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

const FAULT: FaultAnswer = { status: 503, body: '{"message":"out of service"}' }

/** Makes the outages of a service that is asked by HTTP. */
export function httpHolder({ proxy, throttled, hosts = [], env = {}, stop, ...own }: HttpHolder): KeyHolder {
  const outage = (name: string, behaviour: Behaviour): Outage => ({
    name,
    begin: () => proxy.behave(behaviour),
  })
  const gone = outage('closes connections', { kind: 'refuse' })
  return {
    ...own,
    env: { ...env, ...(hosts.length > 0 && rerouted(hosts, proxy.url)) },
    gone,
    outages: [
      gone,
      outage('throttles', { kind: 'answer', answer: throttled }),
      outage('answers 503', { kind: 'answer', answer: FAULT }),
      outage('hangs', { kind: 'hang' }),
    ],
    withhold: async () => ({ underWay: proxy.withhold() }),
    recover: () => proxy.behave(PASS),
    stop: async () => {
      await proxy.stop()
      await stop()
    },
  }
}
