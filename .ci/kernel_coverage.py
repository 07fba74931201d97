"""Run the kernels as plain Python under a tracer, and print how many of their lines the tests reach.

``python .ci/kernel_coverage.py``: the tests are those of `TESTS`, small enough to run without a compiler. A
tracer does not see inside compiled kernels, so `make coverage` leaves their lines out; here only they count.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "choque"
COMPILED = {"kernel", "inline", "helper", "forceinline"}
"""The decorators of `choque._core.kernel`."""

WANTED = 95.0
"""Percent of the lines of kernels that must be reached."""

TESTS = """
_core/test_rounding.py
_core/test_sort.py::test_distinct_pairs_of_any_number_of_partners_are_sorted[counting-40-8]
_core/test_sort.py::test_distinct_pairs_of_any_number_of_partners_are_sorted[counting-40-9]
_core/test_sort.py::test_distinct_pairs_of_any_number_of_partners_are_sorted[counting-40-65]
_core/test_sort.py::test_a_long_row_in_any_order_is_sorted
_core/test_sort.py::test_duplicates_go_and_nothing_else
_core/test_sort.py::test_radix_sort_orders_by_the_bits_asked_for_and_keeps_the_order_of_equals
bounds/test_boxes.py bounds/test_kdops.py bounds/test_oriented.py bounds/test_oriented_fit.py
bounds/test_spheres.py bounds/test_swept.py::test_every_point_stays_inside_all_the_way
bounds/test_bounds_contract.py::test_fit_contains_every_point_exactly
bounds/test_bounds_contract.py::test_moved_contains_every_moved_point_exactly
boxes/test_plain_python.py
broad/test_sap_kdop.py broad/test_survey.py broad/test_auto.py::test_the_table_decides
cli/test_doctor.py::test_a_call_of_the_warm_up_works
dynamics/test_impulse.py dynamics/test_manifolds.py dynamics/test_soft_step_rows.py
dynamics/test_soft_step.py::test_a_sleeper_that_is_given_a_speed_a_place_or_an_acceleration_wakes
dynamics/test_soft_step.py::test_contacts_lie_where_bodies_touch
dynamics/test_soft_step.py::test_equal_bodies_that_meet_head_on_exchange_their_speeds
dynamics/test_soft_step.py::test_events_tell_what_began_ended_hit_slept_and_woke
dynamics/test_soft_step.py::test_no_body_is_faster_than_allowed
dynamics/test_soft_step.py::test_restitution_scales_the_height_by_its_square
dynamics/test_soft_step_motion.py::test_a_fast_body_lands_on_a_plane_and_passes_beside_a_wall
dynamics/test_soft_step_motion.py::test_a_sensor_touches_nothing_and_tells_what_is_in_it
dynamics/test_soft_step_motion.py::test_damping_and_gravity_factors_act_by_their_closed_forms
dynamics/test_soft_step_motion.py::test_only_a_bullet_meets_moving_bodies_within_a_step
dynamics/test_soft_step.py::test_a_ball_that_slides_begins_to_roll_at_five_sevenths_of_its_speed
dynamics/test_soft_step.py::test_a_stack_of_ten_stands_and_falls_asleep
dynamics/test_locked_axes.py::test_a_free_body_keeps_its_momentum_along_free_axes_and_has_none_along_others
dynamics/test_locked_axes.py::test_a_turning_door_takes_the_angular_momentum_of_the_ball_that_hits_it
dynamics/test_locked_axes.py::test_groups_and_masks_say_which_bodies_meet
interest/test_areas.py interest/test_baselines.py
kinetic/test_pure_kinetic.py kinetic/test_slots.py kinetic/test_sweep.py
lab/methods/test_bsp.py lab/methods/test_grid_cells.py lab/methods/test_kd_tree.py lab/methods/test_octree.py
lab/methods/test_multi_sap.py::test_duplicates_are_the_pairs_met_in_further_cells
lab/methods/test_multi_sap.py::test_each_cell_is_swept_along_its_own_axis
meshes/test_mesh.py::test_open3d_5117_faces_in_one_plane_meet_only_if_they_do
meshes/test_mesh.py::test_open3d_5117_faces_with_one_common_vertex_are_tested
meshes/test_mesh.py::test_poses_that_are_not_rigid_are_refused_by_name
meshes/test_mesh.py::test_trimesh_1860_equal_boxes_face_to_face_meet
meshes/test_mesh_poses.py::test_a_mesh_inside_another_collides_if_they_are_solids
meshes/test_mesh_poses.py::test_points_are_inside_a_box_exactly_up_to_its_faces
meshes/test_mesh_poses.py::test_rays_through_edges_and_corners_count_once
meshes/test_mesh_poses.py::test_the_clearance_of_vertices_is_that_of_every_triangle
meshes/test_mesh_poses.py::test_the_penetration_of_boxes_is_the_least_overlap
meshes/test_mesh_scenes.py::test_an_open_mesh_has_no_relation
meshes/test_mesh_scenes.py::test_kinds_of_clashes
meshes/test_mesh_scenes.py::test_scenes_without_parts_and_with_empty_ones
meshes/test_triangles_exact.py::test_kinds_are_those_of_rational_numbers
meshes/test_triangles_exact.py::test_segments_end_where_rational_ones_do
meshes/test_triangles_exact.py::test_shared_corners_are_no_contacts
narrow/test_advancement.py narrow/test_contact_cases.py narrow/test_epa.py narrow/test_find.py narrow/test_gjk.py
narrow/test_polygons.py narrow/test_pure_convex.py
narrow/test_mesh_bodies.py::test_spheres_touch_the_nearest_triangle
narrow/test_mesh_bodies.py::test_meshes_planes_and_tiles_touch_a_mesh
neighbors/test_find.py neighbors/test_kept.py::test_offsets_and_quantities
record/test_poses.py
scale/test_tiling.py
studio/test_film.py::test_matrices_and_angles_are_those_of_their_quaternions
studio/test_raster.py::test_a_small_picture_holds_every_kind_of_body_and_line
studio/test_raster.py::test_nearest_surfaces_are_those_that_rays_meet_first[0]
theses/evm/test_study.py theses/evm/test_triangles.py theses/fingsics/test_contact_rules.py
theses/fingsics/test_response.py theses/fingsics/test_world.py::test_bounds_are_those_of_the_original
theses/fingsics/test_world.py::test_a_world_of_the_engine_uses_its_methods
theses/fingsics/test_world.py::test_counts_of_the_filter_are_reported
theses/fingsics/test_world.py::test_sweep_follows_small_motions_exactly
theses/interest/test_broad_phase.py theses/interest/test_polygons.py
theses/interest/test_repeated_pairs.py::test_pairs_are_those_of_the_search
theses/interest/test_repeated_pairs.py::test_scanning_keeps_the_first_of_each_key
theses/kdop/test_body_points.py theses/kdop/test_orientation.py theses/kdop/test_shape_matching.py
theses/kinetic/test_billiards.py::test_head_on_and_oblique_collisions
theses/kinetic/test_billiards.py::test_a_ball_between_two_walls_under_gravity
theses/kinetic/test_billiards.py::test_ball_at_rest_on_the_floor_is_hit_at_the_right_time_and_without_loss
theses/kinetic/test_billiards.py::test_row_of_balls_on_a_high_floor_comes_to_rest_again
volumes/test_booleans.py volumes/test_bundles.py volumes/test_collision.py volumes/test_distance.py
volumes/test_surface.py volumes/test_voxelise.py
volumes/test_transforms.py::test_turning_a_body_is_counted_and_moving_it_is_free
world/test_pure_world.py world/test_queries.py
world/test_meshes_in_worlds.py::test_a_ball_in_a_valley_rests_on_both_slopes
world/test_meshes_in_worlds.py::test_impulses_and_sensors_see_meshes
world/test_meshes_in_worlds.py::test_worlds_with_meshes_answer_questions
test_pure_python.py
"""
"""Tests that end in seconds as plain Python, but for those named in `LONG`."""

LONG = """
test_nested_boxes_do_not_fill_the_memory test_result_does_not_depend_on_the_order_of_bodies
works[volumes] works[interest] suppression
test_a_sweep_after_any_history test_one_body_costs_the_same_among_few_and_among_many
test_shapes_overlap_what_all_pairs_say test_nearest_bodies_are_those_of_the_closed_forms
test_no_pair_of_bodies_that_meet_is_lost test_threads_change_nothing test_many_deep_overlaps_are_never_missed
test_no_larger_than_along_principal_or_coordinate_axes test_a_fit_passes_its_own_validation
test_a_box_along_the_axes_keeps_them test_many_moves_keep_the_box
test_long_intervals_and_threads_change_nothing test_everything_overlaps_everything
test_it_foresees_what_a_grid_takes test_it_sees_classes_of_sizes order[3-0.3]
test_a_pile_never_produces_nan
test_it_conforms test_the_same_for_any_number_of_threads
test_no_member_is_missed_in_motion_and_changes_add_up test_areas_nest_and_no_pair_is_missed_in_the_arena
test_a_crowd_in_few_places_is_searched_in_a_tree[box] test_lists_that_last_take_fewer_tests_than_new_ones
test_the_number_of_tests_does_not_depend_on_that_of_threads test_owners_that_jump_anywhere_are_found_again
test_the_narrow_phase_finds_the_same_after_every_method test_a_kept_sweep_stays_sorted_and_exchanges_little
test_it_agrees_with_the_meshes test_no_colliding_pair_of_meshes_is_missing_from_the_candidates
test_a_run_with_polygons_finds_no_more_than_with_spheres
test_pairs_broadcasting_and_threads test_iterations_are_few test_verdicts_and_depths_are_those_of_all_axes
test_random_pairs[trie] test_phantoms[ball-gyroid-trie] test_the_intersection_is_the_baseline_everywhere
test_disjoint_spheres_take_every_test layer_of_the_ball[25]
test_no_neighbour_is_missed_in_a_hundred_thousand_random_cells test_a_thousand_points
test_permuted_points_have_the_same_neighbours test_points_moved_by_lattice_vectors test_a_rotated_cell_has
test_any_number_of_threads_gives_the_same_arrays of_a_dense_solver test_moving_turning_mirroring_and_renumbering
test_single_changes_among_many_test_only_what_is_near everyone[1000-499500] numbers[anywhere] numbers[rounded_onto]
test_accelerated_bodies_equal_direct test_after_every_change test_walls_reflect test_events_of_accelerated_pairs
test_fuzz_with_audits test_memory_is_linear test_memory_stays_linear [meeting-False] [burst-True]
spheres-x-triangles spheres-y-triangles spheres-z-triangles ball-nanovdb
"""
"""Words in the names of tests that take longer, or that compare numbers of threads, which shows nothing here."""


def trace(data: Path) -> None:
    """Run the tests without a compiler; the lines that they reach go to ``data``."""
    settings = data.parent.parent / "settings.toml"
    settings.write_text(
        f'[tool.coverage.run]\nsource = ["choque"]\ndata_file = "{data}"\npatch = ["subprocess"]\nparallel = true\n'
    )
    files = [f"tests/{name}" for name in TESTS.split()]
    # Compiled kernels overflow without a warning, and so must the same kernels in NumPy's scalars.
    options = ["-q", "-n", "2", "--dist", "worksteal", "-W", "ignore::RuntimeWarning"]
    options += ["-k", f"not ({' or '.join(LONG.split())})"]
    run = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", *options, *files]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    if subprocess.run(run, cwd=ROOT, env=environment).returncode:
        raise SystemExit("Kernels are wrong as plain Python: see above.")
    subprocess.run([sys.executable, "-m", "coverage", "combine", "-q", f"--rcfile={settings}"], cwd=ROOT, check=True)


def kernel_lines(path: Path) -> set[int]:
    """The lines inside the bodies of kernels, docstrings left out."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and any(
            isinstance(decorator, ast.Name) and decorator.id in COMPILED for decorator in node.decorator_list
        ):
            for statement in node.body:
                lines.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return lines


def reached(data: Path) -> Iterator[tuple[Path, int, list[int]]]:
    """Each file with kernels: how many statements they have, and the lines of those that no test reached."""
    measured = coverage.Coverage(data_file=str(data), config_file=False)
    measured.load()
    for path in sorted(PACKAGE.rglob("*.py")):
        if lines := kernel_lines(path):
            _, statements, _, missing, _ = measured.analysis2(str(path))
            yield path, len(lines.intersection(statements)), sorted(lines.intersection(missing))


def main() -> None:
    """Trace, and print a line for each package and for each file that is not fully reached."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "reached", "lines")  # a folder of its own: all that is in it is combined
        data.parent.mkdir()
        trace(data)
        files = list(reached(data))
    packages: dict[str, list[int]] = {}
    for path, count, missing in files:
        name = path.relative_to(PACKAGE)
        if missing:
            print(f"{name}  {len(missing)} of {count} not reached: {', '.join(map(str, missing))}")
        for group in (name.parts[0], "all"):
            package = packages.setdefault(group, [0, 0])
            package[0] += count - len(missing)
            package[1] += count
    for name, (hits, count) in sorted(packages.items(), key=lambda entry: (entry[0] == "all", entry[0])):
        print(f"{name:<10} {hits:>5} of {count:>5} lines of kernels  {100 * hits / count:5.1f} %")
    hits, count = packages["all"]
    if 100 * hits < WANTED * count:
        raise SystemExit(f"The tests reach {100 * hits / count:.1f} % of the lines of kernels, not {WANTED:g} %.")


if __name__ == "__main__":
    main()
