import type { Principal } from '../access/principal.ts'
import type { RequestContext, TicketFilter } from '../contract/operations.ts'
import type { Deadline } from './deadline.ts'

/** The facts of a request without its signal. */
type Facts = Omit<RequestContext, 'signal'>

/**
 * The facts about a request that its handler receives. A class, because the signal is made when it is first read, and each evaluation of an
 * object literal with a getter makes a hidden class, which keeps the whole request in memory until the next full collection.
 */
export class HandlerContext implements RequestContext {
  readonly requestId: string
  readonly principal: Principal
  readonly actor: RequestContext['actor']
  readonly ticketFilter: TicketFilter | undefined
  readonly mediaType: string
  readonly countFurther: RequestContext['countFurther']
  readonly #deadline: Pick<Deadline, 'signal'>

  constructor(facts: Facts, deadline: Pick<Deadline, 'signal'>) {
    this.requestId = facts.requestId
    this.principal = facts.principal
    this.actor = facts.actor
    this.ticketFilter = facts.ticketFilter
    this.mediaType = facts.mediaType
    this.countFurther = facts.countFurther
    this.#deadline = deadline
  }

  get signal(): AbortSignal {
    return this.#deadline.signal
  }
}
