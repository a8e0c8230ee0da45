import { type Context, type Document, OpenAPIBackend, OpenAPIValidator, type Request } from 'openapi-backend'
import { AppError, type ErrorCode } from '../errors.ts'
import type { Contract, ContractOperation } from './document.ts'
import { sentence } from './explain.ts'
import type { HandlerMap, OperationId, RequestContext } from './operations.ts'
import { ContractRouter, routingDefinition } from './router.ts'
import type { ContractValidator, Verdict } from './validator.ts'

/** One request on its way through the contract. What it needs from the outside it asks for, in this order. */
export interface Exchange {
  readonly method: string
  /** Without the query string. */
  readonly path: string
  readonly querystring: string
  /** A header by its lower-case name. */
  header(name: string): string | undefined
  /** Told as soon as it is known which operation is asked for, with what stands in its path; nothing is checked yet. */
  routed(operation: ContractOperation, path: Readonly<Record<string, string | string[]>>): void
  /** Why the credential is not acceptable; undefined when it is. */
  credentialProblem(): AppError | undefined
  /** Counts the request against the rate limit. Throws AppError 429. */
  admit(): void
  /** The parsed JSON body, declared as one of these media types. Throws AppError 400 when it cannot be read. */
  readBody(mediaTypes: readonly string[]): Promise<unknown>
  readonly context: RequestContext
}

/** Finds the operation of a request, checks the request, and asks the handler. */
export interface Dispatcher {
  /** What the handler returned. Throws AppError for everything that is refused before or by the handler. */
  dispatch(exchange: Exchange): Promise<unknown>
  /** The methods of a path for `Allow`; empty when the path is not in the contract. */
  methods(path: string): readonly string[]
}

export interface DispatcherOptions {
  readonly contract: Contract
  readonly validator: ContractValidator
  readonly handlers: HandlerMap
}

/** The request as openapi-backend passes it around, with what it does not know. */
interface Passage extends Request {
  readonly exchange: Exchange
  operation?: ContractOperation
  verdict?: Verdict
}

/**
 * Joins the contract and the handlers by openapi-backend. The stages of a request are its hooks, in its order: route,
 * credential, rate limit and body, shape, handler.
 *
 * @throws Error when an operation has no handler, or a handler no operation
 */
export async function createDispatcher({
  contract,
  validator,
  handlers,
}: DispatcherOptions): Promise<Dispatcher> {
  assertComplete(contract, handlers)
  const definition = routingDefinition(contract)
  const api = new OpenAPIBackend({ definition, quick: true, strict: true })
  await api.init()
  const router = new ContractRouter(definition)
  api.router = router
  api.validator = new PassageValidator(definition, router, validator)
  api.register(hooks(router, contract))
  for (const [id, handler] of Object.entries(handlers)) {
    api.register(id, (_context: Context, passage: Passage) =>
      (handler as GenericHandler)(inputOf(passage), passage.exchange.context),
    )
  }
  api.registerSecurityHandler(
    'bearer',
    (_context, { exchange }: Passage) => exchange.credentialProblem() === undefined,
  )
  return {
    methods: (path) => router.methods(path),
    dispatch: (exchange) => {
      const passage: Passage = { method: exchange.method, path: exchange.path, headers: {}, exchange }
      return api.handleRequest(passage, passage)
    },
  }
}

type GenericHandler = (input: unknown, context: RequestContext) => Promise<unknown>

/** Compile-time completeness is HandlerMap's work; this is for callers without types, and for a stale build. */
function assertComplete(contract: Contract, handlers: HandlerMap): void {
  const wanted = contract.operations.map(({ id }) => id)
  const missing = wanted.filter((id) => typeof handlers[id] !== 'function')
  const unknown = Object.keys(handlers).filter((id) => !wanted.includes(id as OperationId))
  if (missing.length > 0) throw new Error(`No handler for ${missing.join(', ')}`)
  if (unknown.length > 0) throw new Error(`No operation in openapi.yaml for ${unknown.join(', ')}`)
}

function hooks(router: ContractRouter, contract: Contract) {
  const byId = new Map<string | undefined, ContractOperation>(contract.operations.map((one) => [one.id, one]))
  return {
    notFound: (_context: Context, passage: Passage) => {
      refuseStrangers(passage)
      throw new AppError('not_found', 'There is nothing at this path.')
    },
    methodNotAllowed: (_context: Context, passage: Passage) => {
      refuseStrangers(passage)
      const allowedMethods = router.methods(passage.path)
      throw new AppError('method_not_allowed', `This path answers ${allowedMethods.join(', ')}.`, {
        allowedMethods,
      })
    },
    postRoutingHandler: (context: Context, passage: Passage) => {
      const operation = byId.get(context.operation?.operationId)
      if (operation === undefined) return
      passage.operation = operation
      passage.exchange.routed(operation, context.request.params ?? {})
    },
    postSecurityHandler: async (context: Context, passage: Passage) => {
      if (passage.operation?.responses.has(429)) passage.exchange.admit()
      const welcome = context.security.authorized || !passage.operation?.secured
      const body = welcome ? passage.operation?.body : undefined
      if (body) passage.body = await passage.exchange.readBody(body.mediaTypes)
    },
    unauthorizedHandler: (_context: Context, { exchange }: Passage) => {
      throw exchange.credentialProblem()
    },
    validationFail: (_context: Context, { verdict }: Passage) => {
      throw refusal(verdict)
    },
  }
}

/** What is not in the contract is limited and guarded like what is, so that a stranger cannot tell the difference. */
function refuseStrangers({ exchange }: Passage): void {
  exchange.admit()
  const problem = exchange.credentialProblem()
  if (problem !== undefined) throw problem
}

/** What is missing when the value of a path parameter cannot be an id. */
const NOT_FOUND: Record<string, ErrorCode> = {
  relayer_id: 'relayer_not_found',
  transaction_id: 'transaction_not_found',
  notification_id: 'notification_not_found',
  delivery_id: 'delivery_not_found',
  signer_id: 'signer_not_found',
  network_id: 'network_not_found',
}

function refusal(verdict: Verdict | undefined): unknown {
  if (verdict?.kind === 'no_such_path')
    return new AppError(NOT_FOUND[verdict.parameter] ?? 'not_found', 'Nothing has this id.')
  if (verdict?.kind === 'invalid') return new AppError('invalid_request', sentence(verdict.problem))
  return new Error('a request was refused without a reason')
}

function inputOf({ verdict }: Passage): unknown {
  if (verdict?.kind !== 'valid') throw new Error('a handler is asked only after the request was found valid')
  return verdict.input
}

/** Puts our validator where openapi-backend expects its own; the verdict travels with the request. */
class PassageValidator extends OpenAPIValidator<Document> {
  readonly #validator: ContractValidator

  constructor(definition: Document, router: ContractRouter, validator: ContractValidator) {
    super({ definition, router, lazyCompileValidators: true })
    this.#validator = validator
  }

  override validateRequest(request: Request) {
    const passage = request as Passage
    const { operation, exchange, params = {}, body } = passage
    if (operation === undefined) throw new Error('a request is validated after it was routed')
    const { querystring, header } = exchange
    passage.verdict = this.#validator.request(operation.id, {
      path: params,
      querystring,
      header,
      body: body as unknown,
    })
    return passage.verdict.kind === 'valid' ? { valid: true } : { valid: false, errors: [] }
  }
}
