import type { Logger } from 'pino'
import type { ApiKeyManager } from '../access/manage.ts'
import type { Actor, Visibility } from '../access/principal.ts'
import type { SignatureRecorder } from '../audit/signatures.ts'
import type { Schemas } from '../contract/operations.ts'
import type { Db } from '../database/db.ts'
import type { DiagnosisFacts } from '../diagnosis/facts.ts'
import type { EventNotifier } from '../events/notifier.ts'
import type { StreamLimit } from '../events/stream-limit.ts'
import type { StreamTickets } from '../events/stream-tickets-store.ts'
import type { Clock } from '../lib/time.ts'
import type { HeadState } from '../networks/head-age.ts'
import type { NetworkManager } from '../networks/manage.ts'
import type { Network } from '../networks/network.ts'
import type { DeliveryControls } from '../notifications/delivery/controls.ts'
import type { BodyWriter } from '../notifications/delivery/reader.ts'
import type { SigningKeys } from '../notifications/keys.ts'
import type { NotificationManager } from '../notifications/manage.ts'
import type { PluginManager } from '../plugins/manage.ts'
import type { InterfaceManager } from '../relayers/interfaces/manager.ts'
import type { RelayerManager } from '../relayers/manage/manager.ts'
import type { Relayer } from '../relayers/relayer.ts'
import type { RelayerReader } from '../relayers/relayer-cache.ts'
import type { ScheduleManager } from '../schedules/manage.ts'
import type { SecondPerson } from '../second-person/second-person.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import type { KeyCreator } from '../signers/creation/create-key.ts'
import type { SignerManager } from '../signers/manage.ts'
import type { Sponsors } from '../sponsoring/sponsor.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import type { TransactionWithAttempts } from '../transactions/model/transaction.ts'
import type {
  AuthorizationSigner,
  TransactionSigner,
  TypedDataSigner,
} from '../transactions/requests/signing.ts'
import type { Transactions } from '../transactions/requests/transactions.ts'
import type { TransactionWaits } from '../transactions/requests/waits.ts'
import type { ResetResult } from '../transactions/store/reset-store.ts'

import type { EventPresenter } from './present/event.ts'

/** The parts that every operation may use. */
export interface CoreParts {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
  /** The time limit of an HTTP request in ms. */
  readonly requestTimeoutMs: number
  /** Aborts when the service begins to stop. Every stream ends with it. */
  readonly stopping: AbortSignal
}

/** The parts that the operations of relayers, signers and networks use. */
export interface RelayerParts {
  readonly relayerOf: RelayerReader
  readonly manager: RelayerManager
  /** Returns the runtime of a relayer that this process knows. */
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
  /** Returns the runtimes of these relayers by id, without those of relayers that were removed. */
  readonly runtimesOf: (relayerIds: readonly string[]) => Promise<ReadonlyMap<string, RelayerRuntime>>
  /** Makes the runtime of a relayer that this process may not know yet. */
  readonly prepare: (relayer: Relayer) => Promise<RelayerRuntime>
  readonly interfaces: InterfaceManager
  readonly signers: SignerManager
  readonly keyCreator: KeyCreator
  readonly networks: NetworkManager
  /** Returns the newest head of a network; undefined if no endpoint has reported it recently. */
  readonly headOf: (networkId: string) => HeadState | undefined
  readonly resetChain: (network: Network, actor: Actor) => Promise<ResetResult>
}

/** The parts that the operations of transactions use. */
export interface TransactionParts {
  readonly transactions: Transactions
  readonly schedules: ScheduleManager
  readonly sponsors: Sponsors
  /** Reads what a diagnosis needs to know. */
  readonly gather: (relayer: Relayer, item: TransactionWithAttempts) => Promise<DiagnosisFacts>
}

/** The parts that sign without a transaction. */
export interface SigningParts {
  readonly signTransaction: TransactionSigner
  readonly signTypedData: TypedDataSigner
  readonly signAuthorization: AuthorizationSigner
  readonly recordSignature: SignatureRecorder
}

/** The parts that the operations of events, webhooks and plugins use. */
export interface EventParts {
  readonly notifier: EventNotifier
  readonly waits: TransactionWaits
  readonly presentEvents: EventPresenter
  readonly streams: StreamLimit
  readonly tickets: Pick<StreamTickets, 'issue'>
  readonly notifications: NotificationManager
  readonly controls: DeliveryControls
  readonly keys: SigningKeys
  readonly bodiesOf: BodyWriter
  /** The address of the service for people; undefined if the deployment has told none. */
  readonly publicUrl: string | undefined

  /** Undefined if the deployment has no plugins. */
  readonly plugins: PluginManager | undefined
}

/** The parts that the operations of API keys and monitoring use. */
export interface AccessParts {
  readonly apiKeys: ApiKeyManager
  /** Absent if people cannot sign in. */
  readonly sessions: Sessions | undefined
  /** Absent if one person is enough. */
  readonly secondPerson: SecondPerson | undefined
  readonly check: () => Promise<HealthReport>
  /** Lists the ids of the relayers that a key sees. */
  readonly visibleIds: (visibility: Visibility) => Promise<readonly string[]>
  /** Undefined if metrics are off. */
  readonly metrics: MetricsReader | undefined
}

/** The running service, as handlers use it: each takes the parts that it uses. */
export interface Service
  extends CoreParts,
    RelayerParts,
    TransactionParts,
    SigningParts,
    EventParts,
    AccessParts {}

/** A report on everything that readiness depends on. */
export interface HealthReport {
  readonly database: Schemas['DatabaseHealth']
  readonly networks: Schemas['ComponentHealth']
  readonly workers: Schemas['ComponentHealth']
  readonly relayers: Schemas['ComponentHealth']
  readonly at: Date
}

/** Reads the metrics of this process. */
export interface MetricsReader {
  read(): Promise<MetricsText>
  names(): readonly string[]
  /** Returns undefined for a name that no metric has. */
  readOne(name: string): Promise<MetricsText | undefined>
}

/** Metrics as text, with the media type of the text. */
export interface MetricsText {
  readonly contentType: string
  readonly body: string
}
