export default function (project?: unknown): Promise<() => Promise<void>>
