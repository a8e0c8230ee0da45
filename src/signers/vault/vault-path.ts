/** Joins a path below `/v1/`. A mount can have several segments, so its slashes stay; everything else is one segment. */
export function pathOf(mountPoint: string, ...segments: readonly string[]): string {
  const mount = mountPoint.split('/').filter((segment) => segment !== '')
  return [...mount, ...segments].map(encodeURIComponent).join('/')
}
