import { isIP } from 'node:net'
import { hostname } from 'node:os'

/** Tells of a `Host` header that the request was really meant for this service. */
export type HostCheck = (host: string | undefined) => boolean

/**
 * Endings of names that no public name server answers for: of Kubernetes services, of the clouds' internal names (`internal` is reserved for
 * that by ICANN), and of the machine itself (RFC 6761).
 */
const PRIVATE_ENDINGS = ['.svc', '.cluster.local', '.internal', '.localhost']

/** Allows every name. */
const EVERY_NAME = '*'

/**
 * Creates the check against DNS rebinding: a page in the browser of somebody inside the network asks for a name of the page's own, whose
 * address has become that of the service, and may then read the answer. The browser sends that name, and the owner of the page can only own
 * public names. So it accepts IP addresses, names without a dot (as Docker and Kubernetes give them), private endings, the name of this
 * machine, and the names of the operator. HTTP/1.0 may leave the header out, which no browser does.
 */
export function createHostCheck(names: readonly string[], own: string = hostname()): HostCheck {
  const allowed = new Set([...names, own].map((name) => name.toLowerCase()))
  return (host) => {
    if (host === undefined || allowed.has(EVERY_NAME)) return true
    const name = nameOf(host)
    return (
      allowed.has(name) ||
      isIP(name) !== 0 ||
      !name.includes('.') ||
      PRIVATE_ENDINGS.some((ending) => name.endsWith(ending))
    )
  }
}

/** Returns the name of a `Host` header in lower case, without its port, the brackets of IPv6, and a dot at the end. */
function nameOf(host: string): string {
  const [, address] = /^\[([^\]]*)\](?::[0-9]*)?$/.exec(host) ?? []
  return (
    address ??
    host
      .replace(/:[0-9]*$/, '')
      .replace(/\.$/, '')
      .toLowerCase()
  )
}
