"""Meshes against other libraries: self-intersections, poses, distances, clashes; answers are compared.

    python benchmarks/meshes.py                  # what is installed of: libigl, open3d, coal, python-fcl, trimesh
    python benchmarks/meshes.py --faces 10000 --poses 300

Contenders run in turns in one process and medians are printed, as processor time of one thread divided by the number
of questions, so that other work on the machine distorts them little; for Choque also on all threads, by the clock.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

import numpy as np

import choque
from choque import meshes


def torus(faces: int, radius: float = 1.0, tube: float = 0.3) -> tuple[Any, Any]:
    n = max(3, round((faces / 4) ** 0.5))
    i, j = np.indices((2 * n, n))
    reach = radius + tube * np.cos(j * 2 * np.pi / n)
    angle = i * np.pi / n
    points = np.stack((reach * np.cos(angle), reach * np.sin(angle), tube * np.sin(j * 2 * np.pi / n)), -1)
    i, j = i.ravel(), j.ravel()
    after, beside = (i + 1) % (2 * n) * n, (j + 1) % n
    a, b, c, d = i * n + j, after + j, after + beside, i * n + beside
    return points.reshape(-1, 3), np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))


def poses(count: int, spread: float) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    turns = np.linalg.qr(random.standard_normal((count, 3, 3)))[0]
    turns = turns * np.sign(np.linalg.det(turns))[:, None, None]
    return turns, random.normal(0, spread, (count, 3))


def coal_model(vertices: Any, faces: Any) -> Any:
    import coal

    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(vertices))
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in vertices:
        points.append(point)
    for face in faces.tolist():
        triangles.append(coal.Triangle(*face))
    model.addSubModel(points, triangles)
    model.endModel()
    return model


def fcl_object(vertices: Any, faces: Any) -> Any:
    import fcl

    model = fcl.BVHModel()
    model.beginModel(len(vertices), len(faces))
    model.addSubModel(vertices, faces)
    model.endModel()
    return fcl.CollisionObject(model)


def loaded(name: str) -> Any:
    """Return a module; None if it is not installed, or a library of the system that it needs is not."""
    try:
        return import_module(name)
    except ImportError:
        return None


def compare(title: str, unit: str, count: int, contenders: dict[str, Callable[[], Any]], rounds: int = 3) -> None:
    """Run all in turns; print medians, ratios to Choque on one thread, and whether answers agree."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    answers = {}
    for _ in range(rounds):
        for name, call in contenders.items():
            clock = perf_counter if name.endswith("threads") else process_time
            begin = clock()
            answers[name] = call()
            times[name].append((clock() - begin) / count)
    first = np.asarray(answers["choque"], float)
    own = float(np.median(times["choque"]))
    print(f"\n{title}")
    for name, measured in times.items():
        middle = float(np.median(measured))
        other = np.asarray(answers[name], float)
        agree = "same" if other.shape == first.shape and np.allclose(other, first, atol=1e-9) else "DIFFERENT"
        print(f"  {name:<18} {middle * 1e6:>12.1f} µs {unit}  {middle / own:>6.2f}x  {agree}")


def self_intersections(face_count: int) -> None:
    vertices, faces = torus(face_count)
    vertices = vertices + np.random.default_rng(0).normal(0, 0.05 / face_count**0.5, vertices.shape)
    contenders: dict[str, Callable[[], Any]] = {
        "choque": lambda: len(choque.Mesh(vertices, faces).self_intersections(threads=1)),
        "choque, threads": lambda: len(choque.Mesh(vertices, faces).self_intersections()),
    }
    igl = loaded("igl.copyleft.cgal")
    if igl is not None:
        search = igl.remesh_self_intersections
        contenders["libigl"] = lambda: len(search(vertices, faces.astype(np.int64), detect_only=True)[2])
    open3d = loaded("open3d")
    if open3d is not None:
        points = open3d.utility.Vector3dVector(vertices)
        mesh = open3d.geometry.TriangleMesh(points, open3d.utility.Vector3iVector(faces))
        contenders["open3d"] = lambda: len(mesh.get_self_intersecting_triangles())
    compare(f"self-intersections of {len(faces):,} faces, tree included (counts may differ in kind)", "", 1, contenders)


def in_poses(face_count: int, pose_count: int) -> None:
    vertices, faces = torus(face_count)
    a, b = choque.Mesh(vertices, faces), choque.Mesh(vertices, faces)
    if find_spec("coal"):
        import coal

        models = coal_model(vertices, faces), coal_model(vertices, faces)
    if find_spec("fcl"):
        import fcl

        objects = fcl_object(vertices, faces), fcl_object(vertices, faces)
    for spread in (0.5, 1.0, 2.0):
        turns, shifts = poses(pose_count, spread)
        where = (turns, shifts)
        contenders: dict[str, Callable[[], Any]] = {
            "choque": lambda where=where: meshes.collide(a, b, where, threads=1, solid=False),
            "choque, threads": lambda where=where: meshes.collide(a, b, where, solid=False),
        }
        measures: dict[str, Callable[[], Any]] = {
            "choque": lambda where=where: meshes.distance(a, b, where, threads=1).distance,
            "choque, threads": lambda where=where: meshes.distance(a, b, where).distance,
        }
        if find_spec("coal"):

            def by_coal(where: Any = where) -> list[bool]:
                request, still = coal.CollisionRequest(), coal.Transform3s()
                return [
                    coal.collide(
                        models[0], still, models[1], coal.Transform3s(turn, shift), request, coal.CollisionResult()
                    )
                    > 0
                    for turn, shift in zip(*where, strict=True)
                ]

            def far_by_coal(where: Any = where) -> list[float]:
                request, still = coal.DistanceRequest(), coal.Transform3s()
                return [
                    max(
                        0,
                        coal.distance(
                            models[0], still, models[1], coal.Transform3s(r, t), request, coal.DistanceResult()
                        ),
                    )
                    for r, t in zip(*where, strict=True)
                ]

            contenders["coal"], measures["coal"] = by_coal, far_by_coal
        if find_spec("fcl"):

            def by_fcl(where: Any = where) -> list[bool]:
                found = []
                for turn, shift in zip(*where, strict=True):
                    objects[1].setTransform(fcl.Transform(turn, shift))
                    found.append(fcl.collide(*objects, fcl.CollisionRequest(), fcl.CollisionResult()) > 0)
                return found

            contenders["python-fcl"] = by_fcl
        share = meshes.collide(a, b, where, solid=False).mean()
        compare(f"collide, {len(faces):,} faces each, {share:.0%} hits", "a pose", pose_count, contenders)
        compare(f"distance, {len(faces):,} faces each, {share:.0%} hits", "a pose", pose_count, measures)


def clashes(part_count: int) -> None:
    random = np.random.default_rng(1)
    vertices, faces = torus(2_000, 0.5, 0.15)
    places = random.uniform(0, 1.1 * part_count ** (1 / 3), (part_count, 3))
    turns, _ = poses(part_count, 1.0)
    parts = [vertices @ turn.T + place for turn, place in zip(turns, places, strict=True)]
    contenders: dict[str, Callable[[], Any]] = {
        "choque": lambda: len(meshes.Scene([choque.Mesh(p, faces) for p in parts]).clashes(threads=1)),
        "choque, threads": lambda: len(meshes.Scene([choque.Mesh(p, faces) for p in parts]).clashes()),
    }
    if find_spec("fcl") and find_spec("trimesh"):
        import trimesh

        def by_trimesh() -> int:
            manager = trimesh.collision.CollisionManager()
            for number, points in enumerate(parts):
                manager.add_object(str(number), trimesh.Trimesh(points, faces, process=False))
            return len(manager.in_collision_internal(return_names=True)[1])

        contenders["trimesh"] = by_trimesh
    contenders["choque"]()  # compiles the broad phase for this number of boxes
    compare(f"{part_count:,} parts of {len(faces):,} faces, all clashes", "", 1, contenders, rounds=1)


def clearances(face_count: int, size: int) -> None:
    """Print the time of the clearance of a part in a scan, by one thread and by all, with and without a bound."""
    part = choque.Mesh(*torus(face_count, 0.234 * size, 0.078 * size))
    for name in ("ball", "gyroid"):
        begin = process_time()
        scan = choque.Mesh(choque.lab.phantoms.make(name, size))
        meshes.clearance(scan, part)  # the tree is built here
        print(f"\nclearance of {len(part):,} faces in {name}, {size}³ voxels, {len(scan):,} faces")
        print(f"  made in {process_time() - begin:.1f} s of processor time")
        turn = poses(1, 1.0)[0][0]
        for where, share in (("in the middle", 0.5), ("at the border", 1.0), ("outside", 1.5)):
            pose = (turn, np.array([share, 0.5, 0.5]) * size)
            for bound in (np.inf, 10.0):
                times, walls = [], []
                for _ in range(3):
                    begin = process_time()
                    meshes.clearance(scan, part, pose=pose, bound=bound, threads=1)
                    times.append(process_time() - begin)
                    start = perf_counter()
                    meshes.clearance(scan, part, pose=pose, bound=bound)
                    walls.append(perf_counter() - start)
                one, all_threads = (float(np.median(each)) * 1e3 for each in (times, walls))
                print(f"  {where:<14} bound {bound:>4g}  {one:>7.1f} ms, threads {all_threads:>7.1f} ms")


def tree(face_count: int) -> None:
    """Print the time to build the tree of a mesh, and its bytes."""
    vertices, faces = torus(face_count)
    clocks: list[tuple[float, float]] = []
    for _ in range(3):
        mesh = choque.Mesh(vertices, faces)
        begin, start = process_time(), perf_counter()
        size = mesh.surface.nbytes / len(mesh)
        clocks.append((process_time() - begin, perf_counter() - start))
    used, took = np.median(clocks, axis=0)
    print(f"\ntree of {len(faces):,} faces: {took:.2f} s, {used:.2f} s of processor time, {size:.0f} bytes a face")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare meshes with other libraries.")
    parser.add_argument("--faces", type=int, default=50_000)
    parser.add_argument("--poses", type=int, default=300)
    parser.add_argument("--parts", type=int, default=500)
    parser.add_argument("--voxels", type=int, default=256)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; processor time, except 'threads'")
    warm = choque.Mesh(*torus(500))
    meshes.collide(warm, warm, poses(4, 1.0)), meshes.distance(warm, warm, poses(4, 1.0))
    warm.self_intersections(), meshes.Scene([warm, warm]).clashes()
    self_intersections(2 * given.faces)
    in_poses(given.faces, given.poses)
    clashes(given.parts)
    tree(20 * given.faces)
    clearances(given.faces, given.voxels)


if __name__ == "__main__":
    main()
